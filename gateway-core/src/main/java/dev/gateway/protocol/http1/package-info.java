/** HTTP/1.1 and HTTP/1.0 (RFC 9112): a strict codec, a server connection and a client connection. */
@NullMarked
package dev.gateway.protocol.http1;

import org.jspecify.annotations.NullMarked;
