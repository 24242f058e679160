/** The open tunnels of an event loop, and how the gateway closes a WebSocket. */
@NullMarked
package dev.gateway.exchange.tunnel;

import org.jspecify.annotations.NullMarked;
