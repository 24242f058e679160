package dev.gateway.upstream.pool;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.StreamOpener;

/**
 * An active health check that waits for the connection made for it. After the check, the pool keeps the connection only if
 * the upstream's limit had room for it; else it is closed. Confined to its pool's event loop.
 */
final class CheckOpening implements StreamOpener.Opening, PendingConnection.Callback {
    private final EndpointContext endpoint;
    private final KeptConnections kept;
    private final EndpointPool pool;
    private final ResponseEvents events;
    private final StreamOpener.Callback callback;
    private final boolean permitted;
    private final PendingConnection pending;
    private boolean answered;

    CheckOpening(
            EndpointContext endpoint,
            KeptConnections kept,
            EndpointPool pool,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        this.endpoint = endpoint;
        this.kept = kept;
        this.pool = pool;
        this.events = events;
        this.callback = callback;
        this.permitted = endpoint.shared.permits.tryAcquire(endpoint.host);
        // A check does not wait for a file descriptor: a timeout would count as a failure of the endpoint.
        this.pending = new PendingConnection(endpoint, kept, Account.UNLIMITED, false, this);
    }

    /** Begins; the turn selects which of several addresses is tried first. */
    void start(int turn) {
        pool.onCheckDialing(permitted);
        pending.start(turn);
    }

    @Override
    public void onConnected(PendingConnection of, PooledConnection connection, long nanos) {
        pool.onKnown(connection.version());
        answered = true;
        if (!permitted) {
            connection.onWithoutPermit();
        }
        kept.admit(connection);
        pool.onCheckDialEnded(permitted); // not sooner, or the pool would be empty for a moment, and given up
        callback.onDialed(nanos);
        callback.onOpened(kept.open(connection, events), connection.peer);
        kept.offer(connection);
    }

    @Override
    public void onConnectFailed(PendingConnection of, Failure failure) {
        answered = true;
        pool.recordDialFailure(failure);
        end();
        callback.onOpenFailed(failure);
    }

    @Override
    public void cancel() {
        if (!answered) {
            answered = true;
            pending.cancel();
            end();
        }
    }

    private void end() {
        endpoint.releaseRequests(1);
        pool.onCheckDialEnded(permitted);
        if (permitted) {
            endpoint.shared.permits.release(endpoint.host);
        }
    }
}
