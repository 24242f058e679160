package dev.gateway.upstream.pool;

import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import io.netty.channel.EventLoop;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one upstream: each is the right to one more connection, within its endpoint's share of the limit. Has the
 * queue of pools and tunnels that wait for a permit. Safe from any thread.
 */
final class Permits {
    /** A pool gives its idle connection's permit to another waiter only if that one has waited this much longer. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Upstream upstream;
    private final List<? extends Holder> loops;

    /** The queue: waiters that have requests but no permit; each at most once. */
    private final Queue<PermitWaiter> waiting = new ConcurrentLinkedQueue<>();

    /** How many of them have no connection at all. */
    private final AtomicInteger withoutConnection = new AtomicInteger();

    /** Whether this is asking event loops, one after the other, to close unused connections. */
    private final AtomicBoolean asking = new AtomicBoolean();

    /** Whether another waiter has come meanwhile, so that it must ask again. */
    private volatile boolean askAgain;

    /** The connections of the upstream on one event loop. */
    interface Holder {
        /** Returns that event loop; called on any thread. */
        EventLoop loop();

        /**
         * Closes unused connections whose permits others need; called on its loop.
         *
         * @return how many it has closed; not more than wanted
         */
        int giveUp(int wanted);
    }

    /**
     * Makes it, with an empty queue.
     *
     * @param loops the connections on all event loops, also those that are added later; safe from any thread
     */
    Permits(Upstream upstream, List<? extends Holder> loops) {
        this.upstream = upstream;
        this.loops = loops;
    }

    /** Takes a permit for an endpoint if one is free and no waiter could use it. */
    boolean tryAcquire(Host host) {
        return !isAwaited(host) && host.connections().tryAcquire();
    }

    /** Whether a permit for an endpoint is free, and no waiter could use it. */
    boolean isAvailable(Host host) {
        return !isAwaited(host) && host.connections().hasRoom();
    }

    private boolean isAwaited(Host host) {
        for (PermitWaiter each : waiting) {
            if (each.canUse(host)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes a permit. If none is free, or others wait for one, the waiter gets it later by {@link PermitWaiter#onPermit}.
     * Meanwhile this asks event loops to close connections that they do not use.
     */
    boolean tryAcquire(PermitWaiter waiter) {
        // First: this may close connections of the waiter's loop on this stack, and that may lead here again.
        waiter.setWaiting(true);
        if (waiter.wantsOwn() && tryAcquire(waiter.host)) {
            waiter.setWaiting(false);
            return true;
        }
        waiter.beginWait();
        if (waiter.hadNoConnection()) {
            withoutConnection.incrementAndGet();
        }
        waiting.add(waiter);
        handOut(waiter.host); // another thread may have given one back before this waiter was in the queue
        if (waiter.flexible) {
            upstream.hosts().forEach(this::handOut);
        }
        ask(waiter);
        return false;
    }

    /** Takes a permit even beyond the limit, and asks others to close connections that they do not use. */
    void acquireBeyond(PermitWaiter waiter) {
        waiter.host.connections().acquireBeyond();
        if (isExceeded(waiter.host)) {
            ask(waiter);
        }
    }

    // Asking loops to close unused connections

    /** Asks event loops to close as many connections as waiters need: the waiter's loop first, the next only if needed. */
    private void ask(PermitWaiter waiter) {
        if (asking.compareAndSet(false, true)) {
            int wanted = Math.max(1, wanted());
            for (Holder each : loops) {
                if (each.loop() == waiter.resources.loop) {
                    wanted -= each.giveUp(wanted);
                }
            }
            askNext(loops.iterator(), wanted);
        } else {
            askAgain = true;
            askAgain(); // the thread that was asking may have ended without seeing this
        }
    }

    private void askNext(Iterator<? extends Holder> others, int wanted) {
        if (wanted > 0 && others.hasNext()) {
            Holder next = others.next();
            next.loop().execute(() -> askNext(others, wanted - next.giveUp(wanted)));
            return;
        }
        asking.set(false);
        askAgain();
    }

    private void askAgain() {
        if (askAgain && asking.compareAndSet(false, true)) {
            askAgain = false;
            askNext(loops.iterator(), wanted());
        }
    }

    /** Returns how many connections have to be given up for those in line: what exceeds the limit gives them no permit. */
    private int wanted() {
        return waiting.size() + upstream.connections().excess();
    }

    /** Other endpoints are chosen than before: what is idle there may be of use to those who wait. */
    void askAll() {
        if (!waiting.isEmpty()) {
            askAgain = true;
            askAgain();
        }
    }

    // Giving permits to waiters

    /** Gives back a permit for an endpoint. */
    void release(Host host) {
        host.connections().release();
        handOut(host);
        if (host.connections().isFull() && !waiting.isEmpty()) {
            upstream.hosts().forEach(this::handOut); // it had more than it may, and what it gave back is for others
        }
    }

    /** Shares have changed: permits may have become free. */
    void onChoice() {
        if (!waiting.isEmpty()) {
            upstream.hosts().forEach(this::handOut);
        }
    }

    /**
     * Gives free permits to waiters in the order of the queue. A new waiter gets none before them.
     *
     * @param free an endpoint that may have free permits
     */
    private void handOut(Host free) {
        for (PermitWaiter next : waiting) {
            Host granted = acquireFor(next, free);
            if (granted != null) {
                if (forget(next)) {
                    next.resources.loop.execute(
                            () -> next.onPermit(granted)); // never on this stack, which may be its own
                } else {
                    release(granted); // another thread was faster; newer waiters may have found no permit meanwhile
                    if (granted != free) {
                        handOut(free);
                    }
                    return;
                }
            }
        }
    }

    private static @Nullable Host acquireFor(PermitWaiter waiter, Host free) {
        if (waiter.wantsOwn() && waiter.host.connections().tryAcquire()) {
            return waiter.host; // also if another endpoint's was given back: it may be one of the rest that all share
        }
        return waiter.host != free && waiter.canUse(free) && free.connections().tryAcquire() ? free : null;
    }

    /** Removes a waiter from the queue, if it is there and is not being given a permit already. */
    void leave(PermitWaiter waiter) {
        if (waiter.isWaiting() && forget(waiter)) {
            waiter.setWaiting(false);
        }
    }

    private boolean forget(PermitWaiter waiter) {
        boolean removed = waiting.remove(waiter);
        if (removed && waiter.hadNoConnection()) {
            withoutConnection.decrementAndGet();
        }
        return removed;
    }

    // Which connections to close for others

    /**
     * Whether the permit of a connection that has just become idle must go to another waiter, although a request waits for
     * it here. It must if the other has no connection at all, or has waited much longer. Otherwise permits would only move
     * back and forth.
     *
     * @param sinceNanos when the request here began to wait
     */
    boolean isOwedToOthers(PermitWaiter waiter, long sinceNanos) {
        if (withoutConnection.get() > 0) {
            for (PermitWaiter each : waiting) {
                if (each.hadNoConnection() && each != waiter && canUsePermit(waiter.host, each)) {
                    return true;
                }
            }
        }
        PermitWaiter first = waiting.peek();
        return first != null
                && first != waiter
                && canUsePermit(waiter.host, first)
                && sinceNanos - first.sinceNanos() > PATIENCE_NANOS;
    }

    /** Whether a waiter could use the permit of an idle connection to this endpoint. */
    boolean isWanted(Host host) {
        if (waiting.isEmpty()) {
            return false; // without an iterator: each response asks
        }
        for (PermitWaiter each : waiting) {
            if (canUsePermit(host, each)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a waiter can use a permit of this endpoint if it is given back. */
    private static boolean canUsePermit(Host host, PermitWaiter to) {
        return to.canUse(host) || host.connections().isBeyondKept();
    }

    /** Whether there are more connections than the limit allows. */
    boolean isExceeded(Host host) {
        return host.connections().isExceeded();
    }
}
