package dev.gateway.listener.limit;

import dev.gateway.stream.ClientNetwork;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How many connections of a listener each client holds, on all event loops together, and who holds most. Finds that at once,
 * however many clients there are, so a lock is fast enough. Used only when a connection opens, closes or finds no room.
 */
final class ConnectionShares {
    /** For how long others are asked to give way after a client had no unused connection. */
    private static final long IN_USE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Map<ClientNetwork, Share> shares = new HashMap<>();

    /** Clients with more than one connection that may be asked to give way. */
    private final TreeMap<Integer, Set<Share>> byCount = new TreeMap<>();

    private final Queue<Share> inUse = new ArrayDeque<>(); // who may not, in the order of their time

    /** The connections of one client. */
    private static final class Share {
        final ClientNetwork client;
        int open;
        Set<Admission.Loop> allInUse = Set.of(); // those that found no unused one since a connection of it closed
        boolean inUse;
        long inUseUntil;

        Share(ClientNetwork client) {
            this.client = client;
        }
    }

    /**
     * Who holds most.
     *
     * @param inUse whether it had no unused connection a moment ago
     */
    record Holder(ClientNetwork client, boolean inUse) {}

    /**
     * Counts a connection.
     *
     * @param crowded the limit of the listener while others find no room, else 0. Then a client may have an equal share of it,
     *     or less than who holds most; returns false, and counts nothing, if it has that
     */
    synchronized boolean tryAcquire(ClientNetwork client, int crowded) {
        Share share = shares.get(client);
        if (crowded > 0 && share != null && share.open >= mostOf(crowded)) {
            return false;
        }
        if (share == null) {
            share = new Share(client);
            shares.put(client, share);
        }
        change(share, share.open + 1);
        return true;
    }

    private int mostOf(int limit) {
        int most = byCount.isEmpty() ? 0 : byCount.lastKey();
        return Math.max(1, Math.max(limit / shares.size(), most - 1));
    }

    /** A counted connection has closed. */
    synchronized void release(ClientNetwork client) {
        Share share = shares.get(client);
        if (share != null) {
            share.allInUse = Set.of();
            change(share, share.open - 1);
            if (share.open == 0) {
                shares.remove(client);
            }
        }
    }

    private void change(Share share, int to) {
        if (!share.inUse) {
            leave(share);
        }
        share.open = to;
        if (!share.inUse) {
            join(share);
        }
    }

    /** Who has one has none to give: the connection would only change its owner. */
    private void join(Share share) {
        if (share.open > 1) {
            byCount.computeIfAbsent(share.open, count -> new LinkedHashSet<>(2)).add(share);
        }
    }

    private void leave(Share share) {
        byCount.computeIfPresent(share.open, (count, same) -> {
            same.remove(share);
            return same.isEmpty() ? null : same;
        });
    }

    /**
     * Returns the client that is to give way for another one: who holds most, if that is more than an equal share of the
     * limit, and more than the other one would have then.
     */
    synchronized @Nullable Holder givesWayTo(ClientNetwork newcomer, int limit, long now) {
        for (Share first = inUse.peek(); first != null && now - first.inUseUntil >= 0; first = inUse.peek()) {
            inUse.remove();
            first.inUse = false;
            first.allInUse = Set.of();
            join(first);
        }
        Share most = byCount.isEmpty()
                ? inUse.peek() // of those, it held most
                : byCount.lastEntry().getValue().iterator().next();
        Share own = shares.get(newcomer);
        int clients = shares.size() + (own == null ? 1 : 0);
        return most == null || most.open <= limit / clients || most.open <= (own == null ? 0 : own.open) + 1
                ? null
                : new Holder(most.client, most.inUse);
    }

    /** An event loop has found no unused connection of a client. If none of them finds one, the next client is asked. */
    synchronized void onAllInUse(ClientNetwork client, Admission.Loop loop, int loops, long now) {
        Share share = shares.get(client);
        if (share == null || share.inUse) {
            return;
        }
        if (share.allInUse.isEmpty()) {
            share.allInUse = new HashSet<>();
        }
        share.allInUse.add(loop);
        if (share.allInUse.size() >= loops) {
            leave(share);
            share.inUse = true;
            share.inUseUntil = now + IN_USE_NANOS;
            inUse.add(share);
        }
    }
}
