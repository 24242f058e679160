package dev.gateway.pool;

import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import org.jspecify.annotations.Nullable;

/** A request that waits for a connection; in its pool's queue until it is answered or given up. */
final class Waiter implements StreamOpener.Opening {
    final StreamKind kind;
    final ResponseEvents events;
    final StreamOpener.Callback callback;
    final ConnectionWait connectionWait;

    /** Where it waits. */
    Owner owner;

    /** Those who wait with it. */
    interface Owner {
        /** It has waited for as long as its timer was armed for. */
        void onWaited(Waiter waiter);

        /** Its request has no more time. */
        void onExpired(Waiter waiter);

        /** Its request has been given up. */
        void onCancelled(Waiter waiter);

        /** It waits elsewhere from now on. */
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
