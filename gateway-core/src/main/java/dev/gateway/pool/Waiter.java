package dev.gateway.pool;

import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import org.jspecify.annotations.Nullable;

/** A request that waits for a connection, in the queue of its pool until it is answered or cancelled. */
final class Waiter implements StreamOpener.Opening {
    final StreamKind kind;
    final ResponseEvents events;
    final StreamOpener.Callback callback;
    final ConnectionWait connectionWait;

    /** The waiting requests of its pool. */
    Owner owner;

    /** The waiting requests of a pool. */
    interface Owner {
        /** Its timer has expired. */
        void onWaited(Waiter waiter);

        /** The time of its request is over. */
        void onExpired(Waiter waiter);

        /** Its request was cancelled. */
        void onCancelled(Waiter waiter);

        /** It has moved to another pool. */
        void onMoved(Waiter waiter);
    }

    @Nullable
    Waiter before;

    @Nullable
    Waiter after;

    boolean queued;

    Waiter(Owner owner, StreamKind kind, ResponseEvents events, StreamOpener.Callback callback, long sinceNanos) {
        this.owner = owner;
        this.kind = kind;
        this.events = events;
        this.callback = callback;
        this.connectionWait = new ConnectionWait(sinceNanos) {
            @Override
            protected void onExpired() {
                Waiter.this.owner.onWaited(Waiter.this);
            }
        };
    }

    @Override
    public void expire() {
        if (queued) {
            owner.onExpired(this);
        }
    }

    @Override
    public void cancel() {
        if (queued) {
            owner.onCancelled(this);
        }
    }
}
