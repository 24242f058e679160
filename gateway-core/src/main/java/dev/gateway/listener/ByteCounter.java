package dev.gateway.listener;

import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/** Counts what a connection receives and sends, next to the socket. */
final class ByteCounter extends ChannelDuplexHandler {
    private final ConnectionObserver observer;

    ByteCounter(ConnectionObserver observer) {
        this.observer = observer;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        observer.onReceived(((ByteBuf) message).readableBytes());
        ctx.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        observer.onSent(((ByteBuf) message).readableBytes());
        ctx.write(message, promise);
    }
}
