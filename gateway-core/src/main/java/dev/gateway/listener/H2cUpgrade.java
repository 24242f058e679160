package dev.gateway.listener;

import dev.gateway.message.RequestHead;
import dev.gateway.protocol.http1.Upgrade;
import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;

/** Switches a connection from HTTP/1.1 to HTTP/2 if its first request asks for it (RFC 7540, section 3.2). */
final class H2cUpgrade implements Upgrade {
    private static final int SETTING_BYTES = 6;
    private static final byte[] SWITCHING =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private final BiConsumer<RequestHead, byte[]> http2;
    private final ConnectionObserver observer;

    /**
     * Makes it.
     *
     * @param http2 gets the request and its settings, and adds the handler of HTTP/2, which answers the request; throws
     *     {@link IllegalArgumentException} if a setting is out of range
     */
    H2cUpgrade(BiConsumer<RequestHead, byte[]> http2, ConnectionObserver observer) {
        this.http2 = http2;
        this.observer = observer;
    }

    @Override
    public boolean accepts(byte[] settings) {
        return settings.length % SETTING_BYTES == 0;
    }

    @Override
    public void upgrade(ChannelHandlerContext ctx, RequestHead head, byte[] settings, ByteBuf unread) {
        try {
            ctx.write(Unpooled.wrappedBuffer(SWITCHING));
            http2.accept(head, settings);
        } catch (IllegalArgumentException e) {
            // A setting is out of range. The 101 is already sent; HTTP/2 would end such a connection, too.
            observer.onViolation("settings");
            unread.release();
            ctx.close();
            return;
        } catch (RuntimeException | Error e) {
            unread.release();
            throw e;
        }
        ctx.fireChannelRead(unread);
        ctx.pipeline().remove(ctx.handler());
    }
}
