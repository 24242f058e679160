/** The root of a configuration and its smaller sections: their keys, defaults and descriptions. */
@NullMarked
package dev.gateway.config.yaml.schema;

import org.jspecify.annotations.NullMarked;
