package dev.gateway.net;

import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.jspecify.annotations.Nullable;

/**
 * Protocol detection: waits for the first bytes of a client's connection, which tell what it is or where it is to go.
 * Closes the connection if they do not come in time, or if the client ends its direction before. Owns what has come of
 * them. The last handler of its channel until they are known, confined to its event loop.
 */
public abstract class FirstBytesHandler extends ChannelInboundHandlerAdapter {
    /** What has come so far. The code that takes it leaves an empty buffer. */
    protected ByteBuf held = Unpooled.EMPTY_BUFFER;

    @SuppressWarnings("NullAway.Init")
    protected ChannelHandlerContext ctx; // set when the handler is added, before anything else happens

    private final TimerWheel timers;
    private @Nullable UnfinishedInput unfinished; // made if the bytes do not come at once

    private final Timer timer = new Timer() {
        @Override
        protected void onExpired() {
            onTimeout(held.isReadable());
            ctx.close();
        }
    };

    /** Makes a handler that waits as soon as it is told for how long. */
    protected FirstBytesHandler(TimerWheel timers) {
        this.timers = timers;
    }

    /** Waits so long from now on, 0 for any time. */
    protected final void waitFor(long millis) {
        timer.cancel();
        if (millis > 0) {
            timers.arm(timer, millis);
        }
    }

    /** Waits no longer. */
    protected final void stopWaiting() {
        timer.cancel();
    }

    /**
     * Keeps what has come, since there is more to come, and charges the client for it.
     *
     * @param client whose connection it is
     * @return whether there is room for it; if not, the caller refuses the client
     */
    protected final boolean keepHeld(ConnectionInfo client) {
        slimHeld();
        UnfinishedInput waiting = unfinished;
        if (waiting == null) {
            waiting = new UnfinishedInput(client.account(), client.culprit(), this::onCut);
            unfinished = waiting;
        }
        return waiting.hold(BufferCost.direct(held));
    }

    /** Copies what has come if it keeps a much larger buffer. */
    protected final void slimHeld() {
        held = BufferCost.slim(held);
    }

    /** Memory ran low, and the rest of the bytes has not come: to refuse the client at once. */
    protected void onCut() {
        ctx.close();
    }

    /** Returns what has come, owned by the caller from here on. */
    protected final ByteBuf takeHeld() {
        ByteBuf taken = held;
        held = Unpooled.EMPTY_BUFFER;
        if (unfinished != null) {
            unfinished.release();
        }
        return taken;
    }

    /**
     * The time is over, and the connection is about to be closed.
     *
     * @param begun whether some of the bytes have come
     */
    protected abstract void onTimeout(boolean begun);

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        timer.cancel();
        takeHeld().release();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            context.close();
        }
    }
}
