package dev.gateway.pool;

import dev.gateway.upstream.Host;

/**
 * A permit waiter: somebody who makes connections of an upstream on one event loop, each of which takes one of the
 * upstream's limit, and who gets in line for a permit if there is none. Confined to its loop, except for what {@link Permits}
 * reads of those in line.
 */
final class PermitWaiter {
    final LoopResources resources;

    /** To whom the connections lead. */
    final Host host;

    /** Whether it can use a permit for any endpoint of the upstream that is chosen now. */
    final boolean flexible;

    private final Owner owner;

    /** Whether it is in line, or is being given a permit. */
    private boolean waiting;

    private boolean connectionless; // when it began to wait; written before it is in line, so safe for others to read
    private long sinceNanos; // the same

    /** Who makes the connections. */
    interface Owner {
        /** Whether no connection takes requests, nor is one being made. */
        boolean hasNoConnection();

        /**
         * There is the permit that was waited for, to be used or given back; called once after one was not to be had.
         *
         * @param granted to whom it may connect; another endpoint than its own only if it is flexible
         */
        void onPermit(Host granted);
    }

    PermitWaiter(LoopResources resources, Host host, boolean flexible, Owner owner) {
        this.resources = resources;
        this.host = host;
        this.flexible = flexible;
        this.owner = owner;
    }

    /** Whether it is in line, or is being given a permit: it gets in line once. */
    boolean isWaiting() {
        return waiting;
    }

    /** Sets whether it is in line; done by {@link Permits}, on its loop. */
    void setWaiting(boolean waits) {
        waiting = waits;
    }

    /** Takes note of what others ask of those in line; right before it is in line. */
    void beginWait() {
        connectionless = owner.hasNoConnection();
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

    /** It has its permit, and is in line no more. */
    void onPermit(Host granted) {
        waiting = false;
        owner.onPermit(granted);
    }

    /** Whether it had better connect to its own endpoint, and not only to others. */
    boolean wantsOwn() {
        return !flexible || host.isUsed();
    }

    /** Whether a permit for that endpoint is useful here. */
    boolean canUse(Host other) {
        return flexible ? other.isChosen() || (other == host && host.isUsed()) : other == host;
    }
}
