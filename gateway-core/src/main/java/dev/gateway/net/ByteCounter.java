package dev.gateway.net;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/**
 * Byte counter. Counts what a connection receives and sends, and remembers when that was: the first handler of its
 * pipeline, next to the socket. Confined to its event loop.
 */
public final class ByteCounter extends ChannelDuplexHandler {
    private final ConnectionObserver observer;
    private final TimerWheel clock;
    private final long openedNanos;
    private long movedNanos;
    private long received;
    private long sent;

    /** Makes the handler of one connection, which begins now. */
    public ByteCounter(ConnectionObserver observer, TimerWheel clock) {
        this.observer = observer;
        this.clock = clock;
        this.openedNanos = clock.nanoTime();
        this.movedNanos = openedNanos;
    }

    /** Returns when the connection began, by the loop's clock. */
    public long openedNanos() {
        return openedNanos;
    }

    /** Returns about when bytes came or went last, by the loop's clock. */
    public long movedNanos() {
        return movedNanos;
    }

    /** Returns the bytes that came from the socket. */
    public long received() {
        return received;
    }

    /** Returns the bytes that were handed to the socket. */
    public long sent() {
        return sent;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        int bytes = ((ByteBuf) message).readableBytes();
        received += bytes;
        clock.hold();
        movedNanos = clock.nanoTime();
        ctx.fireChannelRead(message);
        clock.release();
        // Afterwards: who reads counters never sees bytes here that a tunnel has not counted as its own yet.
        observer.onReceived(bytes);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        int bytes = ((ByteBuf) message).readableBytes();
        sent += bytes;
        movedNanos = clock.nanoTime();
        observer.onSent(bytes);
        ctx.write(message, promise);
    }
}
