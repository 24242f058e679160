/** The section routes: which requests and tunnels a rule takes, and what it does with them. */
@NullMarked
package dev.gateway.config.yaml.schema.route;

import org.jspecify.annotations.NullMarked;
