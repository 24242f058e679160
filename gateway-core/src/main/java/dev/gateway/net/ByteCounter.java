package dev.gateway.net;

import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/** Counts what a connection receives and sends: the first handler of its pipeline, next to the socket. */
public final class ByteCounter extends ChannelDuplexHandler {
    private final ConnectionObserver observer;

    /** Makes the handler of one connection. */
    public ByteCounter(ConnectionObserver observer) {
        this.observer = observer;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        int bytes = ((ByteBuf) message).readableBytes();
        ctx.fireChannelRead(message);
        // Afterwards: who reads counters never sees bytes here that a tunnel has not counted as its own yet.
        observer.onReceived(bytes);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        observer.onSent(((ByteBuf) message).readableBytes());
        ctx.write(message, promise);
    }
}
