/** The section upstreams: endpoints, how they are chosen and checked, and connections to them. */
@NullMarked
package dev.gateway.config.yaml.schema.upstream;

import org.jspecify.annotations.NullMarked;
