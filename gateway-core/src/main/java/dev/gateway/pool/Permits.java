package dev.gateway.pool;

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
 * The rights to connections of one upstream: those that its endpoints' shares of the limit allow, and the line of those who
 * wait for one. Safe from any thread.
 */
final class Permits {
    /** How much longer than here somebody must have waited elsewhere to be given a connection that it needs a new one for. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Upstream upstream;
    private final List<? extends Holder> loops;

    /** Those that have requests but may not connect; each at most once. */
    private final Queue<PermitWaiter> waiting = new ConcurrentLinkedQueue<>();

    /** How many of them have no connection at all. */
    private final AtomicInteger withoutConnection = new AtomicInteger();

    /** Whether event loops are being asked, one after the other, to give up what they do not use. */
    private final AtomicBoolean asking = new AtomicBoolean();

    /** Whether somebody has come meanwhile for whom they must be asked once more. */
    private volatile boolean askAgain;

    /** The connections of the upstream on one event loop. */
    interface Holder {
        /** Returns that event loop; called on any thread. */
        EventLoop loop();

        /**
         * Closes connections that are not in use and that others need; called on its loop.
         *
         * @return how many; not more than are wanted
         */
        int giveUp(int wanted);
    }

    /**
     * Makes it, with nobody in line.
     *
     * @param loops all that have connections of the upstream, also those that come later; safe from any thread
     */
    Permits(Upstream upstream, List<? extends Holder> loops) {
        this.upstream = upstream;
        this.loops = loops;
    }

    /** Takes the right to one more connection to an endpoint if there is one that nobody waits for. */
    boolean tryAcquire(Host host) {
        return !isAwaited(host) && host.connections().tryAcquire();
    }

    /** Whether the right to one more connection to an endpoint is free now. */
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
     * Takes the right to one more connection. If there is none, or others wait for one, the waiter is given it later
     * by {@link PermitWaiter#onPermit}, and others are asked to give up a connection that they do not use.
     */
    boolean tryAcquire(PermitWaiter waiter) {
        // First: others of its loop are asked on this stack, which may close a connection and bring it here again.
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
        handOut(waiter.host); // somebody may have given one back before this one was in the queue
        if (waiter.flexible) {
            upstream.hosts().forEach(this::handOut);
        }
        ask(waiter);
        return false;
    }

    /** Takes the right to a connection whatever the limit says; others give up what they do not use instead. */
    void acquireBeyond(PermitWaiter waiter) {
        waiter.host.connections().acquireBeyond();
        if (isExceeded(waiter.host)) {
            ask(waiter);
        }
    }

    // Asking others

    /** Asks event loops for as many connections as are wanted, the waiter's first, each only if those before had too few. */
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

    // Handing out

    /** Gives the right to one connection to an endpoint back. */
    void release(Host host) {
        host.connections().release();
        handOut(host);
        if (host.connections().isFull() && !waiting.isEmpty()) {
            upstream.hosts().forEach(this::handOut); // it had more than it may, and what it gave back is for others
        }
    }

    /** Shares have changed: there may be permits that were not there before. */
    void onChoice() {
        if (!waiting.isEmpty()) {
            upstream.hosts().forEach(this::handOut);
        }
    }

    /**
     * Gives the permits that there are to those who wait, in their order: nobody who comes now gets one before them.
     *
     * @param free an endpoint that there may be permits for
     */
    private void handOut(Host free) {
        for (PermitWaiter next : waiting) {
            Host granted = acquireFor(next, free);
            if (granted != null) {
                if (forget(next)) {
                    next.resources.loop.execute(
                            () -> next.onPermit(granted)); // never on this stack, which may be its own
                } else {
                    release(granted); // another thread was faster, and who came meanwhile may have found none
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
            return waiter.host; // also if another's was given back, for it may be one that nobody's share covers
        }
        return waiter.host != free && waiter.canUse(free) && free.connections().tryAcquire() ? free : null;
    }

    /** Somebody who may be in line has no use for a permit any more, unless it is being given one already. */
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

    // Who gives up what

    /**
     * Whether a connection that has just become free is for others, though somebody waits for it here: for those who
     * have none at all, and for those who have waited much longer. Less than that would only move connections about.
     *
     * @param sinceNanos when the one here began to wait
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

    /** Whether anybody would rather have a connection to that endpoint's place than have it kept idle. */
    boolean isWanted(Host host) {
        for (PermitWaiter each : waiting) {
            if (canUsePermit(host, each)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a permit for the endpoint, given back, is one that somebody in line can use. */
    private static boolean canUsePermit(Host host, PermitWaiter to) {
        return to.canUse(host) || host.connections().isBeyondKept();
    }

    /** Whether there are more connections than the limit allows. */
    boolean isExceeded(Host host) {
        return host.connections().isExceeded();
    }
}
