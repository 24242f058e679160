package dev.gateway.listener;

import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;

/** Answers a client that sends cleartext to a TLS listener: most likely a person with http:// in a browser. */
final class CleartextReply {
    private static final byte[] BAD_REQUEST = String.join(
                    "\r\n",
                    "HTTP/1.1 400 Bad Request",
                    "Connection: close",
                    "Content-Type: text/plain",
                    "Content-Length: 32",
                    "",
                    "This port speaks TLS: https://",
                    "")
            .getBytes(StandardCharsets.US_ASCII);

    private CleartextReply() {}

    /** Sends the reply if the channel is open, on its event loop. The caller closes the channel. */
    static void send(Channel channel, ConnectionObserver observer) {
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first != null && channel.isActive()) {
            observer.onViolation("cleartext_on_tls");
            // Writes from the first handler on, so that it bypasses the TLS handler.
            first.writeAndFlush(Unpooled.wrappedBuffer(BAD_REQUEST));
            observer.onSent(BAD_REQUEST.length); // the write also bypasses the first handler, which counts bytes
        }
    }
}
