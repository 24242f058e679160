/** Reads, checks, describes and prints the YAML form of a configuration. */
@NullMarked
package dev.gateway.config.yaml;

import org.jspecify.annotations.NullMarked;
