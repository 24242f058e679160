package dev.gateway.pool;

import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamOpener;

/**
 * A check on its way to a connection made for it. Others get that connection afterwards only if the upstream's limit had
 * room for it; else it is closed. Confined to its pool's event loop.
 */
final class CheckOpening implements StreamOpener.Opening, PendingConnection.Callback {
    private final EndpointPool pool;
    private final ResponseEvents events;
    private final StreamOpener.Callback callback;
    private final boolean permitted;
    private final PendingConnection arrival;
    private boolean answered;

    CheckOpening(EndpointPool pool, ResponseEvents events, StreamOpener.Callback callback) {
        this.pool = pool;
        this.events = events;
        this.callback = callback;
        this.permitted = pool.endpoint.shared.permits.tryAcquire(pool.endpoint.host);
        // The time of a check is short, and running out of it would be held against the endpoint.
        this.arrival = new PendingConnection(pool, false, this);
    }

    /** Begins; the turn says which of several addresses is tried first. */
    void start(int turn) {
        if (permitted) {
            pool.onCheckDialing();
        }
        arrival.start(turn);
    }

    @Override
    public void onArrived(PooledConnection connection, long nanos) {
        answered = true;
        if (permitted) {
            pool.onCheckDialEnded();
        }
        connection.permitted = permitted;
        connection.retiring = !permitted;
        pool.kept.admit(connection);
        callback.onDialed(nanos);
        pool.openOn(connection, events, callback);
        pool.kept.offer(connection);
    }

    @Override
    public void onNotArrived(Failure failure) {
        answered = true;
        pool.onDialFailed(failure);
        end();
        callback.onOpenFailed(failure);
    }

    @Override
    public void cancel() {
        if (!answered) {
            answered = true;
            arrival.cancel();
            end();
        }
    }

    private void end() {
        pool.endpoint.releaseRequests(1);
        if (permitted) {
            pool.onCheckDialEnded();
            pool.endpoint.shared.permits.release(pool.endpoint.host);
        }
    }
}
