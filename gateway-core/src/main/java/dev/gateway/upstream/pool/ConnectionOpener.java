package dev.gateway.upstream.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Host;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connections of a pool: as many as its waiting requests need, as far as the upstream's limit allows. Part of the
 * pool, confined to its event loop.
 */
final class ConnectionOpener {
    /** How many requests one connection being made is expected to serve if it speaks HTTP/2. */
    private static final int STREAMS_EXPECTED = 100;

    private final SharedUpstream shared;
    private final Host host;
    private final PermitWaiter permit;
    private final Demand demand;
    private int dialing;
    private boolean reserved; // it holds a permit for a request that is about to wait here
    private int late; // how many of those being made have already counted as failures of the endpoint
    private int addressTurn = ThreadLocalRandom.current().nextInt(); // each loop begins at another address
    private @Nullable HttpVersion known; // what the endpoint speaks

    /** The pool that the connections are for. */
    interface Demand {
        /** Returns how many requests wait for a connection. */
        int pendingRequests();

        /** Whether some connection takes requests, now or as soon as it is free. */
        boolean hasServing();

        /** Whether the pool is closed, and needs no more connections. */
        boolean isClosed();

        /** Makes a connection; the turn selects which of several addresses is tried first. */
        void dial(int turn);
    }

    ConnectionOpener(EndpointContext endpoint, PermitWaiter permit, Demand demand) {
        this.shared = endpoint.shared;
        this.host = endpoint.host;
        this.permit = permit;
        this.demand = demand;
        if (endpoint.http1Only || !shared.isNegotiated()) {
            this.known = shared.isHttp2() ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1;
        }
    }

    /** Returns how many connections are being made. */
    int dialing() {
        return dialing;
    }

    /** Returns the protocol of the last connection, or the only configured one; null if it is not known yet. */
    @Nullable
    HttpVersion known() {
        return known;
    }

    private boolean mayMultiplex() {
        return known == null || known.multiplexes();
    }

    /** Returns how many requests the connections being made will serve. */
    int expected() {
        return dialing * (mayMultiplex() ? STREAMS_EXPECTED : 1);
    }

    /** Whether the first connection of this loop will serve all its requests. */
    boolean multiplexes() {
        return known == null ? shared.expectsHttp2() : known.multiplexes();
    }

    /** Whether no connection takes requests, and none is being made for them. */
    boolean servesNone() {
        return dialing == 0 && !demand.hasServing();
    }

    /**
     * Whether a connection may exceed the limit. Otherwise requests of this loop could wait for ever: a connection of
     * another loop may never become idle, and its room for further streams is useless here.
     */
    private boolean mayExceedLimit() {
        return servesNone() && multiplexes();
    }

    private boolean isNeeded() {
        return !demand.isClosed() && demand.pendingRequests() > expected() && !(dialing > 0 && mayMultiplex());
    }

    /** Makes the connections that waiting requests need, or queues for permits. */
    void openNeeded() {
        if (mayExceedLimit()) {
            leaveQueue();
        }
        while (!permit.isWaiting() && isNeeded()) {
            if (mayExceedLimit()) {
                shared.permits.acquireBeyond(permit);
            } else if (!shared.permits.tryAcquire(permit)) {
                return;
            }
            dial();
        }
    }

    /** Makes the connection that one more waiting request needs, beyond any limit: none holds for an ejected endpoint. */
    void openBeyond() {
        if (isNeeded()) {
            shared.permits.acquireBeyond(permit);
            dial();
        }
    }

    /** Whether a request that joins the queue now would wait for a permit, which may take long. */
    boolean waitsForPermit() {
        return isNeeded() && (permit.isWaiting() || !(mayExceedLimit() || shared.permits.isAvailable(host)));
    }

    /** Whether {@link #reserve} would succeed now, unless another event loop is faster. */
    boolean mayReserve() {
        return demand.pendingRequests() < expected()
                || mayExceedLimit()
                || (!isOpening() && shared.permits.isAvailable(host));
    }

    /** Whether it waits for a permit, or makes a connection that may serve many requests. */
    private boolean isOpening() {
        return permit.isWaiting() || (expected() > 0 && mayMultiplex());
    }

    /**
     * Reserves a connection for one more request than now wait here.
     *
     * @return whether the request can get one without waiting for a permit; then {@link #dialReserved} follows when it has
     *     joined the queue
     */
    boolean reserve() {
        if (demand.pendingRequests() < expected()) {
            return true;
        }
        if (mayExceedLimit()) {
            shared.permits.acquireBeyond(permit);
        } else if (isOpening() || !shared.permits.tryAcquire(host)) {
            return false;
        }
        reserved = true;
        return true;
    }

    /** The pool got a permit for a request that is about to wait here. */
    void reserved() {
        reserved = true;
    }

    void dialReserved() {
        if (reserved) {
            reserved = false;
            dial();
        }
    }

    private void dial() {
        dialing++;
        demand.dial(nextTurn());
    }

    /** Returns which of several addresses the next connection tries first. */
    int nextTurn() {
        return addressTurn++;
    }

    /** Leaves the queue for permits, unless it is just being given one. */
    void leaveQueue() {
        shared.permits.leave(permit);
    }

    /** It has got the permit that it waited for. */
    void onPermit() {
        if (isNeeded()) {
            dial();
            openNeeded();
        } else {
            shared.permits.release(host);
        }
    }

    /** A connection has shown which protocol the endpoint speaks. */
    void onKnown(HttpVersion version) {
        known = version;
        if (version.multiplexes()) {
            shared.onHttp2();
        }
    }

    /**
     * A request has waited so long for a connection being made that this counts as a failure of the endpoint.
     *
     * @return false if each connection being made has already counted
     */
    boolean onLate() {
        if (late >= dialing) {
            return false;
        }
        late++;
        return true;
    }

    /**
     * An attempt to connect has succeeded or failed.
     *
     * @return whether it has already counted as a failure of the endpoint, because it was late
     */
    boolean onDialEnded() {
        dialing--;
        if (late > 0) {
            late--;
            return true;
        }
        return false;
    }
}
