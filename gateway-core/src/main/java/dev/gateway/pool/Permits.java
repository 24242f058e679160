package dev.gateway.pool;

import dev.gateway.upstream.Host;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rights to connections of one upstream: those that its endpoints' shares of the limit allow, and the line of those who
 * wait for one. Safe from any thread.
 */
final class Permits {
    /** How much longer than here somebody must have waited elsewhere to be given a connection that it needs a new one for. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Those that have requests but may not connect; each at most once. */
    private final Queue<Claimant> starving = new ConcurrentLinkedQueue<>();

    /** How many of them have no connection at all. */
    private final AtomicInteger destitute = new AtomicInteger();

    private final List<Claimant> claimants; // all there are

    Permits(List<Claimant> claimants) {
        this.claimants = claimants;
    }

    /** Takes the right to one more connection to an endpoint if there is one that nobody waits for. */
    boolean tryAcquire(Host host) {
        return starving.isEmpty() && host.connections().tryAcquire();
    }

    /**
     * Takes the right to one more connection. If there is none, or others wait for one, the claimant is given it later
     * by {@link Claimant#onPermit}, and others are asked to give up a connection that they do not use.
     */
    boolean tryAcquire(Claimant claimant) {
        if (tryAcquire(claimant.host)) {
            return true;
        }
        claimant.destitute = claimant.hasNone();
        claimant.starvingSinceNanos = claimant.now();
        if (claimant.destitute) {
            destitute.incrementAndGet();
        }
        starving.add(claimant);
        handOut(); // somebody may have given one back before this one was in the queue
        askOthers(claimant);
        return false;
    }

    /** Takes the right to a connection whatever the limit says; others give up what they do not use instead. */
    void acquireBeyond(Claimant claimant) {
        claimant.host.connections().acquireBeyond();
        if (isExceeded(claimant.host)) {
            askOthers(claimant);
        }
    }

    private void askOthers(Claimant claimant) {
        for (Claimant other : claimants) {
            if (other != claimant) {
                other.onLoop(other::giveUpOne);
            }
        }
    }

    /** Gives the right to one connection to an endpoint back. */
    void release(Host host) {
        host.connections().release();
        handOut();
    }

    /** Gives the permits that there are to those who wait, in their order: nobody who comes now gets one before them. */
    private void handOut() {
        for (Claimant next : starving) {
            if (next.host.connections().tryAcquire()) {
                if (forget(next)) {
                    next.loopPools.loop.execute(next::onPermit); // never on this stack, which may be its own
                } else {
                    next.host.connections().release(); // another thread was faster
                    handOut(); // who came meanwhile may have found none
                    return;
                }
            }
        }
    }

    /**
     * Somebody who waits for a permit has no use for one any more.
     *
     * @return false if it is being given one already
     */
    boolean forget(Claimant claimant) {
        boolean removed = starving.remove(claimant);
        if (removed) {
            taken(claimant);
        }
        return removed;
    }

    private void taken(Claimant claimant) {
        if (claimant.destitute) {
            destitute.decrementAndGet();
        }
    }

    /**
     * Whether a connection that has just become free is for others, though somebody waits for it here: for those who
     * have none at all, and for those who have waited much longer. Less than that would only move connections about.
     *
     * @param sinceNanos when the one here began to wait
     */
    boolean isOwedToOthers(Claimant claimant, long sinceNanos) {
        if (destitute.get() > 0) {
            return true;
        }
        Claimant first = starving.peek();
        return first != null && first != claimant && sinceNanos - first.starvingSinceNanos > PATIENCE_NANOS;
    }

    /** Whether anybody would rather have a connection than have it kept idle. */
    boolean isStarving() {
        return !starving.isEmpty();
    }

    /** Whether there are more connections than the limit allows. */
    boolean isExceeded(Host host) {
        return host.connections().isExceeded();
    }
}
