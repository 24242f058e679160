package dev.gateway.protocol.http1;

import dev.gateway.message.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/**
 * HTTP/1.1 Upgrade to another protocol: takes a connection over from HTTP/1.1 on its first request (RFC 7540, section 3.2).
 * Called on its event loop.
 */
public interface Upgrade {
    /**
     * Whether a first request without a body that asks for {@code h2c} can have it; if not, it is handled as if it had not
     * asked.
     *
     * @param settings the payload of HTTP2-Settings, decoded
     */
    boolean accepts(byte[] settings);

    /**
     * Takes the connection over: writes the 101 response, replaces the context's handler in the pipeline and answers the
     * request by the new protocol.
     *
     * @param settings that were accepted
     * @param unread what the client sent after the head; owned by the callee, also on failure
     */
    void upgrade(ChannelHandlerContext ctx, RequestHead head, byte[] settings, ByteBuf unread);
}
