package dev.gateway.pool;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.UpstreamSettings;

/**
 * Who makes connections of an upstream on one event loop, each of which takes a permit of the upstream's limit. Confined
 * to its loop but for {@link #onLoop}.
 */
abstract class Claimant {
    final LoopPools loopPools;
    final SharedUpstream shared;
    final UpstreamSettings settings;
    final UpstreamObserver observer;

    /** Whether it had no connection when it began to wait for a permit; written before, so safe to read for who tells it. */
    boolean destitute;

    Claimant(LoopPools loopPools, SharedUpstream shared, UpstreamObserver observer) {
        this.loopPools = loopPools;
        this.shared = shared;
        this.settings = shared.settings;
        this.observer = observer;
    }

    /** Whether there is no connection, nor one being made. */
    abstract boolean hasNone();

    /** A permit may be free now; called once after a permit was not to be had. */
    abstract void onPermit();

    /** Another one waits for a permit: a connection that is not in use is closed for it. */
    abstract void giveUpOne();

    /** Whether no connection is to be made any more. */
    abstract boolean isClosed();

    final long now() {
        return loopPools.wheel.nanoTime();
    }

    /** Does something on the event loop, now or soon; safe from any thread. */
    final void onLoop(Runnable task) {
        if (loopPools.loop.inEventLoop()) {
            task.run();
        } else {
            loopPools.loop.execute(task);
        }
    }
}
