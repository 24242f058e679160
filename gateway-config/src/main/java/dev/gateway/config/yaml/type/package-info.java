/** The types of values that a configuration has, how they are read, and what is said of those that are wrong. */
@NullMarked
package dev.gateway.config.yaml.type;

import org.jspecify.annotations.NullMarked;
