/** Byte-stream transport: event loops, sockets, TLS, the PROXY protocol, read credit. */
@NullMarked
package dev.gateway.net;

import org.jspecify.annotations.NullMarked;
