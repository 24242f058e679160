/** Filters of rules: their types, those of plugins, and what several types have in common. */
@NullMarked
package dev.gateway.config.yaml.schema.filter;

import org.jspecify.annotations.NullMarked;
