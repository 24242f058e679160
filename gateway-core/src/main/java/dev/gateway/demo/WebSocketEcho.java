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
    private static final Logger LOG = LoggerFactory.getLogger(WebSocketEcho.class);
    private static final int MAX_FRAME = 1 << 20;

    private boolean reading; // a frame is asked for and has not come
    private boolean readWhenWritable;

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
                echo.read(next);
            } else {
                LOG.debug("WebSocket handshake failed", done.cause());
                ctx.close();
            }
        });
        return true;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        reading = false;
        if (message instanceof CloseWebSocketFrame close) {
            ctx.writeAndFlush(close).addListener(ChannelFutureListener.CLOSE);
        } else if (message instanceof PongWebSocketFrame || !(message instanceof WebSocketFrame)) {
            ReferenceCountUtil.release(message);
            read(ctx);
        } else {
            ctx.writeAndFlush(
                    message instanceof PingWebSocketFrame ping ? new PongWebSocketFrame(ping.content()) : message);
            if (ctx.channel().isWritable()) {
                read(ctx);
            } else {
                readWhenWritable = true;
            }
        }
    }

    private void read(ChannelHandlerContext ctx) {
        reading = true;
        ctx.read();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (reading) {
            ctx.read(); // FlowControlHandler forgets what was asked for when a read of the socket completes
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (readWhenWritable && ctx.channel().isWritable()) {
            readWhenWritable = false;
            read(ctx);
        }
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
        LOG.debug("demo WebSocket failed", cause); // peers come and go
        ctx.close();
    }
}
