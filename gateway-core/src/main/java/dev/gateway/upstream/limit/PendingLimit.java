package dev.gateway.upstream.limit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Circuit breaker limit of requests that wait for a connection, fair by client: how many places an upstream has for them, over
 * all event loops. If all are taken, a client with few places gets that of the newest request of the client that has most. Safe
 * from any thread. Used only while requests wait, and each call but {@link #waitingSince} takes the same time, however many wait.
 */
public final class PendingLimit {
    private final int max;
    private final Map<Object, Client> clients =
            new HashMap<>(); // those that have places; guarded by this, like the rest
    private final List<Set<Client>> byPlaces =
            new ArrayList<>(); // at n: those that have n + 1 places; the last is not empty
    private int taken;
    private volatile Set<Object> last = Set.of();

    /** A request that has a place. */
    public interface Holder {
        /**
         * Another client has got its place. Called on any thread; the request must fail soon. A holder that asks {@link #isLost}
         * every now and then need not do anything.
         */
        void onPlaceLost(Place place);
    }

    /** The place of one request. */
    public static final class Place {
        private final Client client;
        private final long sinceNanos;
        private final Holder holder;
        private @Nullable Place older; // of the same client
        private @Nullable Place newer;
        private boolean free;

        private Place(Client client, long sinceNanos, Holder holder) {
            this.client = client;
            this.sinceNanos = sinceNanos;
            this.holder = holder;
        }
    }

    private static final class Client {
        final Object key;
        int places;

        @Nullable
        Place newest;

        Client(Object key) {
            this.key = key;
        }
    }

    /** Makes a limit; 0 means no limit. */
    public PendingLimit(int max) {
        this.max = max > 0 ? max : Integer.MAX_VALUE;
    }

    /**
     * Takes a place if one is left, or if another client has more than this one will have. The caller gives it back by {@link
     * #release}.
     *
     * @param client equal for all requests of a client
     * @param sinceNanos since when the request waits
     * @return null if there is no place for this client
     */
    public @Nullable Place tryTake(Object client, long sinceNanos, Holder holder) {
        Place lost = null;
        Place place;
        synchronized (this) {
            Client known = clients.get(client);
            if (taken >= max) {
                int will = known == null ? 1 : known.places + 1;
                if (byPlaces.size() <= will) {
                    return null;
                }
                lost = byPlaces.get(byPlaces.size() - 1).iterator().next().newest;
                free(lost);
            }
            place = new Place(known == null ? new Client(client) : known, sinceNanos, holder);
            add(place);
        }
        if (lost != null) {
            lost.holder.onPlaceLost(lost);
        }
        return place;
    }

    /** Gives a place back, unless another client has got it. */
    public synchronized void release(Place place) {
        if (!place.free) {
            free(place);
        }
    }

    /** Whether another client has got the place. */
    public synchronized boolean isLost(Place place) {
        return place.free;
    }

    /** Returns how many places are taken. */
    public synchronized int taken() {
        return taken;
    }

    /** Returns how many requests of each client have waited since this time, or for longer. */
    public synchronized Map<Object, Integer> waitingSince(long nanos) {
        Map<Object, Integer> waiting = new HashMap<>();
        clients.forEach((key, client) -> {
            for (Place each = client.newest; each != null; each = each.older) {
                if (each.sinceNanos - nanos <= 0) {
                    waiting.merge(key, 1, Integer::sum);
                }
            }
        });
        return waiting;
    }

    /** Sets which clients have more of the upstream than their share: of those who wait, others are served before them. */
    public void serveLast(Set<Object> clientsWithMuch) {
        if (!last.equals(clientsWithMuch)) {
            last = clientsWithMuch; // queues compare the object before they compare what it contains
        }
    }

    /** Returns the clients that are served after all others; the same object until they change. */
    public Set<Object> last() {
        return last;
    }

    private void add(Place place) {
        Client client = place.client;
        if (client.newest == null) {
            clients.put(client.key, client);
        } else {
            client.newest.newer = place;
        }
        place.older = client.newest;
        client.newest = place;
        count(client, 1);
    }

    private void free(@Nullable Place place) {
        if (place == null) {
            return;
        }
        Client client = place.client;
        place.free = true;
        if (place.newer == null) {
            client.newest = place.older;
        } else {
            place.newer.older = place.older;
        }
        if (place.older != null) {
            place.older.newer = place.newer;
        }
        if (client.newest == null) {
            clients.remove(client.key);
        }
        count(client, -1);
    }

    private void count(Client client, int change) {
        if (client.places > 0) {
            byPlaces.get(client.places - 1).remove(client);
        }
        client.places += change;
        taken += change;
        if (client.places > byPlaces.size()) {
            byPlaces.add(new LinkedHashSet<>());
        }
        if (client.places > 0) {
            byPlaces.get(client.places - 1).add(client);
        }
        while (!byPlaces.isEmpty() && byPlaces.get(byPlaces.size() - 1).isEmpty()) {
            byPlaces.remove(byPlaces.size() - 1);
        }
    }
}
