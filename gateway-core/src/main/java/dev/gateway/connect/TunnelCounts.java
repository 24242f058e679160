package dev.gateway.connect;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tunnel counts. How many tunnels, and requests forwarded like them, are open: in all, by policy, by client address, by
 * identity. Who has none has no entry, so the tables are as small as there are tunnels. Shared by all event loops.
 */
public final class TunnelCounts {
    private final AtomicInteger all = new AtomicInteger();
    private final Table policies = new Table();
    private final Table clients = new Table();
    private final Table identities = new Table();

    /** Counts by a key. */
    static final class Table {
        private final ConcurrentHashMap<Object, Integer> counts = new ConcurrentHashMap<>();

        /** Counts one more unless there are as many as may be; 0 for no limit. */
        boolean tryAdd(Object key, int max) {
            int now = counts.merge(key, 1, Integer::sum);
            if (max > 0 && now > max) {
                remove(key);
                return false;
            }
            return true;
        }

        void remove(Object key) {
            counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
        }

        int size() {
            return counts.size();
        }
    }

    boolean tryAdd(int max) {
        if (all.incrementAndGet() > max && max > 0) {
            all.decrementAndGet();
            return false;
        }
        return true;
    }

    void remove() {
        all.decrementAndGet();
    }

    Table policies() {
        return policies;
    }

    Table clients() {
        return clients;
    }

    Table identities() {
        return identities;
    }

    /** Returns how many are open. */
    public int open() {
        return all.get();
    }

    /** Returns from how many client addresses. */
    public int openClients() {
        return clients.size();
    }

    /** Returns of how many identities. */
    public int openIdentities() {
        return identities.size();
    }
}
