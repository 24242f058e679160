package dev.gateway.upstream.pool;

import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;

/** A request that waits for a connection, in the queue of its pool until it is answered or cancelled. */
final class Waiter extends WaitQueue.Entry<Waiter> implements StreamOpener.Opening {
    final StreamKind kind;
    final ResponseEvents events;
    final StreamOpener.Callback callback;
    final ConnectionWait connectionWait;

    /** The waiting requests of its pool. */
    PendingRequests owner;

    Waiter(
            PendingRequests owner,
            StreamKind kind,
            ResponseEvents events,
            StreamOpener.Callback callback,
            long sinceNanos) {
        super(callback.client());
        this.owner = owner;
        this.kind = kind;
        this.events = events;
        this.callback = callback;
        this.connectionWait = new ConnectionWait(sinceNanos) {
            @Override
            protected void onExpired() {
                Waiter.this.owner.onWaited(Waiter.this);
            }

            @Override
            protected void onPlaceLost() {
                Waiter.this.owner.onPlaceLost(Waiter.this);
            }
        };
    }

    /** Returns since when its client's turn is due, while it is in a queue. */
    long dueSinceNanos() {
        return dueSinceNanos(connectionWait.sinceNanos);
    }

    @Override
    public void expire() {
        if (isQueued()) {
            owner.onExpired(this);
        }
    }

    @Override
    public void cancel() {
        if (isQueued()) {
            owner.onCancelled(this);
        }
    }
}
