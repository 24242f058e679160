package dev.gateway.listener;

import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.overload.LoopGate;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The first handler in the pipeline of a listening socket. Stops accepting while clients have taken all file descriptors
 * for clients, so that new clients wait in the kernel, and for a moment if the system has none left. Confined to the
 * socket's event loop except for {@link #emptied}.
 */
final class AcceptGate extends ChannelInboundHandlerAdapter {
    private static final long RETRY_MILLIS = 20;

    /** How often to check whether there is memory for another connection. */
    private static final long FULL_MILLIS = 5;

    /** How soon to look again for unused connections to close while all file descriptors are taken. It doubles in vain. */
    private static final long CROWDED_MILLIS = 10;

    private static final long LONG_CROWDED_MILLIS = 100;

    /** After this time without a new connection, TCP handshakes in progress have ended, except those of slow clients. */
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int QUIET_TURNS = 3;

    /** Long enough that a scheduled task is not due at once. */
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Channel socket;
    private final AcceptTarget target;
    private final @Nullable DescriptorShare share;
    private final AcceptTrouble trouble;
    private final AcceptRate rate;
    private final Map<EventLoop, AcceptTarget> targets; // of all event loops
    private boolean paused;
    private boolean crowded; // makeRoom runs periodically
    private long crowdedMillis; // when it runs next
    private Iterator<AcceptTarget> turn = Collections.emptyIterator(); // whose loop looks for room next
    private final AtomicBoolean asking = new AtomicBoolean(); // whether a loop is about to look for room
    private long lastNanos; // when it last accepted a connection
    private int accepted; // number of connections since the last check

    /**
     * What the gates of a listener's sockets share.
     *
     * @param targets the owner of the connections of each event loop
     */
    record Shared(AcceptTrouble trouble, AcceptRate rate, Map<EventLoop, AcceptTarget> targets) {}

    /**
     * Makes the gate of one socket.
     *
     * @param share the descriptors that accepted connections take; null for a gate that never closes
     */
    AcceptGate(Channel socket, AcceptTarget target, @Nullable DescriptorShare share, Shared shared) {
        this.socket = socket;
        this.target = target;
        this.share = share;
        this.trouble = shared.trouble();
        this.rate = shared.rate();
        this.targets = shared.targets();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        lastNanos = System.nanoTime();
        accepted++;
        LoopGate gate = target.owner.loop().gate();
        if (target.owner.refusesClient((Channel) message)) {
            return;
        }
        long wait = rate.accepted(lastNanos, maxRate());
        if (target.owner.refuse((Channel) message)) {
            pauseFor(Math.max(
                    wait, gate.refuse(lastNanos, false))); // who comes again at once finds that the others go first
            return;
        }
        DescriptorShare from = share;
        if (from == null) {
            ctx.fireChannelRead(message);
            pauseFor(wait);
            return;
        }
        from.take();
        ((Channel) message).closeFuture().addListener(closed -> from.release());
        ctx.fireChannelRead(message);
        if (from.isNearlyFull()) {
            askNext(from);
        }
        if (from.isFull() && !paused) {
            trouble.onFull(name(), from.max());
            pause();
            from.whenFree(() -> socket.eventLoop().execute(this::resume));
            crowdedMillis = CROWDED_MILLIS;
            if (!crowded) {
                crowded = true;
                makeRoom(from);
            }
        }
        pauseFor(Math.max(wait, gate.accepted(lastNanos)));
    }

    /**
     * Closes unused connections periodically, as long as clients may wait for a file descriptor. The connections may be on
     * any event loop, because one socket may accept for all loops.
     */
    private void makeRoom(DescriptorShare from) {
        crowded = from.isFull() && paused && socket.isOpen();
        if (crowded) {
            targets.forEach((loop, each) -> loop.execute(() -> {
                if (from.isFull()) {
                    each.owner.loop().gate().onFilesFull(true);
                }
            }));
            socket.eventLoop().schedule(() -> makeRoom(from), crowdedMillis, TimeUnit.MILLISECONDS);
            crowdedMillis = Math.min(2 * crowdedMillis, LONG_CROWDED_MILLIS);
        }
    }

    /**
     * Closes an unused connection of one event loop after the other before all file descriptors are taken: new clients would
     * wait behind those who do not use their connections.
     */
    private void askNext(DescriptorShare from) {
        if (targets.isEmpty() || !asking.compareAndSet(false, true)) {
            return;
        }
        if (!turn.hasNext()) {
            turn = targets.values().iterator();
        }
        ListenerLoop next = turn.next().owner.loop();
        next.eventLoop().execute(() -> {
            asking.set(false);
            if (from.isNearlyFull()) {
                next.gate().onFilesFull(false);
            }
        });
    }

    private int maxRate() {
        return target.owner.settingsRef().settings.limits().clients().maxAcceptRate();
    }

    private void pauseFor(long millis) {
        if (millis > 0 && !paused) {
            pause();
            socket.eventLoop().schedule(this::resume, millis, TimeUnit.MILLISECONDS);
        }
    }

    /** Does not pass the exception on: Netty would stop accepting for a second. */
    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        target.owner.loop().observer().onSocketError();
        trouble.onFailed(name(), cause);
        pauseFor(RETRY_MILLIS);
    }

    private String name() {
        return target.owner.settingsRef().settings.name();
    }

    private void pause() {
        paused = true;
        target.owner.loop().observer().onAcceptPaused();
        socket.config().setAutoRead(false);
    }

    private void resume() {
        long wait = rate.pause(System.nanoTime(), maxRate());
        if (socket.isOpen() && wait > 0) {
            socket.eventLoop().schedule(this::resume, wait, TimeUnit.MILLISECONDS);
            return;
        }
        if (socket.isOpen() && !target.owner.loop().gate().mayAccept(System.nanoTime())) {
            socket.eventLoop().schedule(this::resume, FULL_MILLIS, TimeUnit.MILLISECONDS);
            return;
        }
        paused = false;
        if (socket.isOpen()) {
            socket.config().setAutoRead(true);
        }
    }

    /**
     * Waits until no client waits to be accepted. Called when new clients no longer come.
     *
     * @param nanos the maximum time
     * @return completes on the event loop
     */
    CompletableFuture<Void> emptied(long nanos) {
        CompletableFuture<Void> emptied = new CompletableFuture<>();
        socket.eventLoop().execute(() -> {
            lastNanos = System.nanoTime();
            look(emptied, lastNanos + nanos, 0);
        });
        return emptied;
    }

    /**
     * Checks whether connections were accepted lately. Time alone is not enough: on a busy machine, serving the last
     * accepted connections may take longer than the quiet time. So the loop must also find no client in several turns.
     *
     * @param turns the number of turns without a client since it has been quiet
     */
    private void look(CompletableFuture<Void> emptied, long deadline, int turns) {
        long now = System.nanoTime();
        int quietTurns = accepted == 0 && !paused ? turns : 0;
        accepted = 0;
        long left = paused ? QUIET_NANOS : lastNanos + QUIET_NANOS - now;
        if (now - deadline >= 0 || !socket.isOpen() || (left <= 0 && quietTurns == QUIET_TURNS)) {
            emptied.complete(null);
        } else {
            int next = left <= 0 ? quietTurns + 1 : 0;
            // The scheduled task runs after the loop has checked its sockets once more.
            long wait = left <= 0 ? TURN_NANOS : Math.max(TURN_NANOS, Math.min(left, deadline - now));
            socket.eventLoop().schedule(() -> look(emptied, deadline, next), wait, TimeUnit.NANOSECONDS);
        }
    }
}
