package dev.gateway.pool;

import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Host;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connections of a pool: as many as the requests that wait there need, and as the upstream's
 * limit allows. Part of the pool, confined to its event loop.
 */
final class ConnectionOpener {
    /** How many requests one connection being made is expected to serve if it speaks HTTP/2. */
    private static final int STREAMS_EXPECTED = 100;

    private final SharedUpstream shared;
    private final Host host;
    private final PermitWaiter permit;
    private final Owner owner;
    private int dialing;
    private boolean reserved; // it has a permit for a request that is about to wait here
    private int late; // of those being made, have been held against the endpoint already
    private int addressTurn = ThreadLocalRandom.current().nextInt(); // each loop begins at another address
    private @Nullable HttpVersion known; // of what the endpoint speaks

    /** The pool that the connections are for. */
    interface Owner {
        /** Returns how many requests wait for a connection. */
        int pendingRequests();

        /** Whether some connection takes requests, now or when one has ended. */
        boolean hasServing();

        /** Whether no connection is wanted any more. */
        boolean isClosed();

        /** Makes a connection; the turn says which of several addresses is tried first. */
        void dial(int turn);
    }

    ConnectionOpener(EndpointContext endpoint, PermitWaiter permit, Owner owner) {
        this.shared = endpoint.shared;
        this.host = endpoint.host;
        this.permit = permit;
        this.owner = owner;
        if (endpoint.http1Only || !shared.isNegotiated()) {
            this.known = shared.isHttp2() ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1;
        }
    }

    /** Returns how many connections are being made. */
    int dialing() {
        return dialing;
    }

    /** Returns what was spoken to the endpoint last, or is all that is to be; null if that is not known yet. */
    @Nullable
    HttpVersion known() {
        return known;
    }

    private boolean mayMultiplex() {
        return known == null || known == HttpVersion.HTTP_2;
    }

    /** Returns how many requests the connections being made will serve. */
    int expected() {
        return dialing * (mayMultiplex() ? STREAMS_EXPECTED : 1);
    }

    /** Whether a connection, if there is none, will serve all requests of this loop. */
    boolean multiplexes() {
        return known == null ? shared.expectsHttp2() : known == HttpVersion.HTTP_2;
    }

    /** Whether no connection takes requests, nor is one being made for them. */
    boolean servesNone() {
        return dialing == 0 && !owner.hasServing();
    }

    /**
     * Whether the limit does not count. Requests of this loop could wait for ever for a connection of another to become
     * idle, and that one's room for further streams is useless here.
     */
    private boolean mayExceedLimit() {
        return servesNone() && multiplexes();
    }

    private boolean isNeeded() {
        return !owner.isClosed() && owner.pendingRequests() > expected() && !(dialing > 0 && mayMultiplex());
    }

    /** Makes what is needed, or gets in line for it. */
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

    /** Whether a request that waits here now waits for a permit, which may be long. */
    boolean waitsForPermit() {
        return isNeeded() && (permit.isWaiting() || !(mayExceedLimit() || shared.permits.isAvailable(host)));
    }

    /**
     * Looks for a connection to one more request than wait here.
     *
     * @return whether it can have one without waiting for a permit; {@link #dialReserved} follows once it waits here
     */
    boolean reserve() {
        if (owner.pendingRequests() < expected()) {
            return true;
        }
        if (mayExceedLimit()) {
            shared.permits.acquireBeyond(permit);
        } else if (permit.isWaiting() || (expected() > 0 && mayMultiplex()) || !shared.permits.tryAcquire(host)) {
            return false;
        }
        reserved = true;
        return true;
    }

    /** There is a permit for a request that is about to wait here. */
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
        owner.dial(nextTurn());
    }

    /** Returns which of several addresses the next connection tries first. */
    int nextTurn() {
        return addressTurn++;
    }

    /** Has no place in the line for a permit from here on, unless it is being given one. */
    void leaveQueue() {
        shared.permits.leave(permit);
    }

    /** It has the permit that it waited for. */
    void onPermit() {
        if (isNeeded()) {
            dial();
            openNeeded();
        } else {
            shared.permits.release(host);
        }
    }

    /** The endpoint has told, by a connection, what it speaks. */
    void onKnown(HttpVersion version) {
        known = version;
        if (version == HttpVersion.HTTP_2) {
            shared.onHttp2();
        }
    }

    /**
     * Somebody has waited so long for a connection being made that it is held against the endpoint.
     *
     * @return false if that has been done for each of them
     */
    boolean onLate() {
        if (late >= dialing) {
            return false;
        }
        late++;
        return true;
    }

    /**
     * A connection has been made, or will not be had.
     *
     * @return whether its lateness has been held against the endpoint
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
