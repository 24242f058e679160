package dev.gateway.pool;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.UpstreamSettings;

/**
 * Waits for permits: makes connections of an upstream on one event loop, each of which takes one of the upstream's limit.
 * Confined to its loop.
 */
abstract class PermitWaiter {
    final LoopPools loopPools;
    final SharedUpstream shared;
    final UpstreamSettings settings;
    final UpstreamObserver observer;

    /** To whom the connections lead. */
    final Host host;

    /** Whether it can use a permit for any endpoint of the upstream that is chosen now. */
    final boolean flexible;

    /** Whether it had no connection when it began to wait for a permit; written before, so safe for others to read. */
    boolean destitute;

    /** When it began to wait for a permit; written before, so safe for others to read. */
    long starvingSinceNanos;

    PermitWaiter(LoopPools loopPools, SharedUpstream shared, UpstreamObserver observer, Host host, boolean flexible) {
        this.loopPools = loopPools;
        this.shared = shared;
        this.settings = shared.settings;
        this.observer = observer;
        this.host = host;
        this.flexible = flexible;
    }

    /** Whether no connection takes requests, nor is one being made. */
    abstract boolean hasNone();

    /**
     * It has the permit that it waited for, and uses it or gives it back; called once after one was not to be had.
     *
     * @param granted to whom it may connect; another endpoint than its own only if it is flexible
     */
    abstract void onPermit(Host granted);

    /** Whether no connection is to be made any more. */
    abstract boolean isClosed();

    final long now() {
        return loopPools.resources.wheel.nanoTime();
    }

    /** Whether it had better connect to its own endpoint, and not only to others. */
    final boolean wantsOwn() {
        return !flexible || host.isChosen();
    }

    /** Whether a permit for that endpoint is of use here. */
    final boolean canUse(Host other) {
        return flexible ? other.isChosen() : other == host;
    }
}
