/** Listeners: bind addresses, accept connections, detect their protocol, limit and drain them. */
@NullMarked
package dev.gateway.listener;

import org.jspecify.annotations.NullMarked;
