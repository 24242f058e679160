package dev.gateway.pool;

import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import org.jspecify.annotations.Nullable;

/** A request that waits for a connection; in its pool's queue until it is answered or given up. */
final class Waiter implements StreamOpener.Opening {
    final StreamKind demand;
    final ResponseEvents events;
    final StreamOpener.Callback callback;
    final long sinceNanos;

    /** Where it waits. */
    EndpointPool pool;

    /** Limits the wait. */
    final Timer timer = new Timer() {
        @Override
        protected void onExpired() {
            pool.pending.onWaited(Waiter.this);
        }
    };

    @Nullable
    Waiter before;

    @Nullable
    Waiter after;

    boolean queued;

    /** Whether it counts against the limit of pending requests. */
    boolean counted;

    Waiter(EndpointPool pool, StreamKind demand, ResponseEvents events, StreamOpener.Callback callback) {
        this.pool = pool;
        this.demand = demand;
        this.events = events;
        this.callback = callback;
        this.sinceNanos = pool.endpoint.now();
    }

    @Override
    public void expire() {
        if (queued) {
            pool.pending.onExpired(this);
        }
    }

    @Override
    public void cancel() {
        if (queued) {
            pool.pending.onCancelled(this);
        }
    }
}
