/** HTTP/2 (RFC 9113): a server connection and a client connection. */
@NullMarked
package dev.gateway.protocol.http2;

import org.jspecify.annotations.NullMarked;
