package dev.gateway.http1;

import dev.gateway.message.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/** Takes a connection over from HTTP/1.1 on its first request (RFC 7540, section 3.2). Called on its event loop. */
public interface Upgrade {
    /**
     * The first request of a connection, without a body, asks for {@code h2c}. To accept, write the 101 response,
     * replace the context's handler in the pipeline and answer the request by the new protocol.
     *
     * @param settings the payload of HTTP2-Settings, decoded
     * @param unread what the client sent after the head; owned by the callee if it accepts
     * @return whether the connection was taken over; if not, the request is handled as if it had not asked
     */
    boolean upgrade(ChannelHandlerContext ctx, RequestHead head, byte[] settings, ByteBuf unread);
}
