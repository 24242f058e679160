package dev.gateway.demo;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshakerFactory;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection of the demo upstream that has become a WebSocket: sends every frame back, one at a time. */
final class WebSocketEcho extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(WebSocketEcho.class);
    private static final int MAX_FRAME = 1 << 20;

    private final ReadPacing pacing = new ReadPacing();

    /** Upgrades the connection; returns false, having done nothing, if that is not what the client asks for. */
    static boolean upgrade(ChannelHandlerContext ctx, HttpRequest head) {
        boolean asked = head.method().equals(HttpMethod.GET)
                && head.headers().containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                && head.headers().contains(HttpHeaderNames.SEC_WEBSOCKET_KEY);
        WebSocketServerHandshaker handshaker =
                asked ? new WebSocketServerHandshakerFactory("/ws", null, false, MAX_FRAME).newHandshaker(head) : null;
        if (handshaker == null) {
            return false;
        }
        DefaultFullHttpRequest request = new DefaultFullHttpRequest(
                head.protocolVersion(),
                head.method(),
                head.uri(),
                Unpooled.EMPTY_BUFFER,
                head.headers(),
                head.headers());
        WebSocketEcho echo = new WebSocketEcho();
        ctx.pipeline().replace(ctx.handler(), null, echo);
        ChannelHandlerContext next = ctx.pipeline().context(echo);
        handshaker.handshake(ctx.channel(), request).addListener(done -> {
            if (done.isSuccess()) {
                echo.pacing.read(next);
            } else {
                log.debug("WebSocket handshake failed", done.cause());
                ctx.close();
            }
        });
        return true;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        pacing.onRead();
        if (message instanceof CloseWebSocketFrame close) {
            ctx.writeAndFlush(close).addListener(ChannelFutureListener.CLOSE);
        } else if (message instanceof PongWebSocketFrame || !(message instanceof WebSocketFrame)) {
            ReferenceCountUtil.release(message);
            pacing.read(ctx);
        } else {
            ctx.writeAndFlush(
                    message instanceof PingWebSocketFrame ping ? new PongWebSocketFrame(ping.content()) : message);
            pacing.readWhenWritable(ctx);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        pacing.onReadComplete(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        pacing.onWritabilityChanged(ctx);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof IdleStateEvent) {
            ctx.close();
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        log.debug("demo WebSocket failed", cause); // peers come and go
        ctx.close();
    }
}
