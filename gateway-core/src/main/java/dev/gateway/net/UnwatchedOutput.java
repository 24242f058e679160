package dev.gateway.net;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.ConnectionInfo;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * Unwatched output: what waits in a connection although no exchange waits for it. The exchange has ended, or it sees room for
 * more. It is direct memory, as the socket takes nothing else. Charged to the client until the peer has taken it. Part of a
 * connection of a client, or of a tunnel to an upstream, and confined to its event loop.
 */
public abstract class UnwatchedOutput extends StalledPeers.Holder implements ChannelFutureListener {
    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final ConnectionInfo client;
    private @Nullable Account payer; // null while nothing waits
    private long charged;
    private boolean awaited; // told when all has left
    private boolean over; // the channel is closed, or another handler has it

    /** Makes it for the channel of a handler: a connection of this client, or the connection of its tunnel to an upstream. */
    protected UnwatchedOutput(ChannelHandlerContext ctx, ConnectionInfo client) {
        this.ctx = ctx;
        this.channel = ctx.channel();
        this.client = client;
    }

    /** Whether an exchange answers for what waits once the channel is no longer writable. */
    protected abstract boolean isWatched();

    /** Returns the account that is charged. */
    protected Account account() {
        return client.account();
    }

    /** The channel was flushed. */
    public final void onFlushed() {
        if (waits()) {
            begin(null);
        }
    }

    /**
     * All was written.
     *
     * @param sent done when the peer has taken it
     */
    public final void onEnding(ChannelFuture sent) {
        begin(sent);
    }

    private boolean waits() {
        long bytes = PendingWrites.bytes(channel);
        return isWatched() ? bytes > PendingWrites.SLIGHT && channel.isWritable() : bytes > 0;
    }

    /** Charges what waits now, and looks again when it has left. */
    private void begin(@Nullable ChannelFuture sent) {
        long bytes = over ? 0 : PendingWrites.memory(channel);
        if (bytes == 0) {
            return;
        }
        Account now = account();
        if (payer != now) {
            discharge();
            now.join();
            payer = now;
        }
        now.waitingBodies().change(charged, bytes);
        charged = bytes;
        stall();
        if (!awaited) {
            awaited = true;
            ChannelFuture last = sent == null ? ctx.writeAndFlush(Unpooled.EMPTY_BUFFER) : sent;
            last.addListener(this);
        }
    }

    @Override
    public final void operationComplete(ChannelFuture sent) {
        awaited = false;
        settle();
        if (PendingWrites.bytes(channel) > PendingWrites.SLIGHT && waits()) { // it was written later
            begin(null);
        }
    }

    /** The channel is closed, or another handler has it. */
    public final void end() {
        over = true;
        settle();
    }

    private void settle() {
        resume();
        discharge();
    }

    private void discharge() {
        Account before = payer;
        if (before != null) {
            before.waitingBodies().release(charged);
            before.leave();
            payer = null;
            charged = 0;
        }
    }

    /** Returns how many bytes are charged. */
    public final long charged() {
        return charged;
    }

    @Override
    protected final long held() {
        return charged;
    }

    @Override
    protected final long heldHeap() {
        return Cost.CONNECTION;
    }

    @Override
    protected final Object culprit() {
        Object named = payer == null ? null : payer.client();
        return named == null ? client.culprit() : named;
    }
}
