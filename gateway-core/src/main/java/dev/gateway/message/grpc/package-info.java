/** Calls of gRPC that the gateway makes itself: their fields, their framing, and protocol buffers on the wire. */
@NullMarked
package dev.gateway.message.grpc;

import org.jspecify.annotations.NullMarked;
