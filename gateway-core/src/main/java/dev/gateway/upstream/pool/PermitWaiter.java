package dev.gateway.upstream.pool;

import dev.gateway.upstream.Host;

/**
 * A pool or the tunnels of one event loop, as they wait for permits. A permit is the right to one more connection of an
 * upstream. If none is free, the waiter joins the queue of {@link Permits}. Confined to its loop, except for what {@link
 * Permits} reads of waiters in the queue.
 */
final class PermitWaiter {
    final LoopResources resources;

    /** The endpoint that it makes connections to. */
    final Host host;

    /** Whether it can use a permit for any chosen endpoint of the upstream. */
    final boolean flexible;

    private final Applicant applicant;

    /** Whether it is in the queue, or is being given a permit. */
    private boolean waiting;

    // Written before it joins the queue, so other threads may read them.
    private boolean connectionless; // whether it had no connection when it began to wait
    private long sinceNanos; // when it began to wait

    /** Makes the connections. */
    interface Applicant {
        /** Whether no connection takes requests, and none is being made. */
        boolean hasNoConnection();

        /**
         * It has got the permit that it waited for, and must use it or give it back; called once for each wait.
         *
         * @param granted the endpoint of the permit; another one than its own only if it is flexible
         */
        void onPermit(Host granted);
    }

    PermitWaiter(LoopResources resources, Host host, boolean flexible, Applicant applicant) {
        this.resources = resources;
        this.host = host;
        this.flexible = flexible;
        this.applicant = applicant;
    }

    /** Whether it is in the queue, or is being given a permit. It is in the queue at most once. */
    boolean isWaiting() {
        return waiting;
    }

    /** Sets whether it is in the queue; {@link Permits} calls it on its loop. */
    void setWaiting(boolean waits) {
        waiting = waits;
    }

    /** Stores what other threads may read; called just before it joins the queue. */
    void beginWait() {
        connectionless = applicant.hasNoConnection();
        sinceNanos = resources.wheel.nanoTime();
    }

    /** Whether it had no connection when it began to wait. */
    boolean hadNoConnection() {
        return connectionless;
    }

    /** When it began to wait. */
    long sinceNanos() {
        return sinceNanos;
    }

    /** It has got a permit, and has left the queue. */
    void onPermit(Host granted) {
        waiting = false;
        applicant.onPermit(granted);
    }

    /** Whether it may connect to its own endpoint, and not only to others. */
    boolean wantsOwn() {
        return !flexible || host.isUsed();
    }

    /** Whether a permit for that endpoint is useful here. */
    boolean canUse(Host other) {
        return flexible ? other.isChosen() || (other == host && host.isUsed()) : other == host;
    }
}
