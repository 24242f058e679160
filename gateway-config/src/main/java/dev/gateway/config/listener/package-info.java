/** The section of listeners: addresses, TLS, limits, and what a listener has for all its routes. */
@NullMarked
package dev.gateway.config.listener;

import org.jspecify.annotations.NullMarked;
