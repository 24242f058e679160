/** The sections of a configuration: their keys, defaults and descriptions. */
@NullMarked
package dev.gateway.config.yaml.schema;

import org.jspecify.annotations.NullMarked;
