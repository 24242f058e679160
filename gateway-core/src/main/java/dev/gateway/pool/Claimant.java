package dev.gateway.pool;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.UpstreamSettings;

/**
 * Who makes connections of an upstream on one event loop, each of which takes a permit. Confined
 * to its loop but for {@link #onLoop}.
 */
abstract class Claimant {
    final LoopPools loopPools;
    final SharedUpstream shared;
    final UpstreamSettings settings;
    final UpstreamObserver observer;

    /** To whom the connections lead. */
    final Host host;

    /** Whether it had no connection when it began to wait for a permit; written before, so safe for others to read. */
    boolean destitute;

    /** When it began to wait for a permit; written before, so safe for others to read. */
    long starvingSinceNanos;

    Claimant(LoopPools loopPools, SharedUpstream shared, UpstreamObserver observer, Host host) {
        this.loopPools = loopPools;
        this.shared = shared;
        this.settings = shared.settings;
        this.observer = observer;
        this.host = host;
    }

    /** Whether no connection takes requests, nor is one being made. */
    abstract boolean hasNone();

    /** It has the permit that it waited for, and uses it or gives it back; called once after one was not to be had. */
    abstract void onPermit();

    /** HTTP/2 was spoken where only a handshake could tell: who has no connection may be able to do without a permit. */
    abstract void onHttp2Known();

    /** Others may need a permit: a connection that is not in use is closed for them. */
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
