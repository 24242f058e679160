/** Rules of a configuration that no section sees alone. */
@NullMarked
package dev.gateway.config.yaml.check;

import org.jspecify.annotations.NullMarked;
