/** The section listeners: addresses, TLS, limits, and what a listener has for all its routes. */
@NullMarked
package dev.gateway.config.yaml.schema.listener;

import org.jspecify.annotations.NullMarked;
