package dev.gateway.listener.limit;

import dev.gateway.stream.ClientNetwork;
import java.util.concurrent.ConcurrentHashMap;

/** Counts open connections by client, for all event loops together. Used only when a connection opens or closes. */
final class ClientConnections {
    private final ConcurrentHashMap<ClientNetwork, Integer> open = new ConcurrentHashMap<>();

    /** Counts a connection; returns false, and does not count it, if its client has reached the limit. */
    boolean tryAcquire(ClientNetwork client, int max) {
        if (open.merge(client, 1, Integer::sum) <= max) {
            return true;
        }
        release(client);
        return false;
    }

    /** Returns how many connections a client has. */
    int open(ClientNetwork client) {
        return open.getOrDefault(client, 0);
    }

    /** A counted connection has closed. */
    void release(ClientNetwork client) {
        open.computeIfPresent(client, (key, count) -> count == 1 ? null : count - 1);
    }

    /** Returns how many clients have connections. */
    int clients() {
        return open.size();
    }
}
