package dev.gateway.filter.auth;

import dev.gateway.stream.ClientNetwork;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Which clients have logged in as which users before. Bounded for each user and in total: without room, those are forgotten
 * who have not come for longest. So a user with many addresses makes the gateway forget his own only. Safe from any thread.
 */
final class KnownClients {
    static final int MOST = 20_000;
    static final int MOST_OF_USER = MOST / 16;

    /** So large a part is forgotten at once, so that the next ones need not look again. */
    private static final int PART = 16;

    private final ConcurrentHashMap<Known, Visit> known = new ConcurrentHashMap<>();
    private final Map<User, Integer> counts = new HashMap<>(); // guarded by this
    private volatile long added; // the clock: how many clients have been added

    /**
     * A user.
     *
     * @param accounts where the user is, as users of the same name may be of several files
     */
    private record User(Object accounts, String name) {}

    /** A client that is a user's. */
    private record Known(User user, ClientNetwork client) {}

    /** When a client came last. */
    private static final class Visit {
        volatile long at;

        Visit(long at) {
            this.at = at;
        }
    }

    private record Visitor(Known client, long at) {}

    /** The client has logged in. */
    void add(Object accounts, String user, ClientNetwork client) {
        if (!has(accounts, user, client)) {
            put(new Known(new User(accounts, user), client));
        }
    }

    /** Whether the client, which comes now, has logged in before. */
    boolean has(Object accounts, String user, ClientNetwork client) {
        Visit visit = known.get(new Known(new User(accounts, user), client));
        if (visit == null) {
            return false;
        }
        long now = added;
        if (visit.at != now) {
            visit.at = now;
        }
        return true;
    }

    private synchronized void put(Known client) {
        if (counts.getOrDefault(client.user, 0) >= MOST_OF_USER) {
            forget(MOST_OF_USER / PART, each -> each.user.equals(client.user));
        } else if (known.size() >= MOST) {
            forget(MOST / PART, each -> true);
        }
        long now = added + 1;
        added = now;
        if (known.putIfAbsent(client, new Visit(now)) == null) {
            counts.merge(client.user, 1, Integer::sum);
        }
    }

    private void forget(int number, Predicate<Known> among) {
        List<Visitor> oldest = known.entrySet().stream()
                .filter(each -> among.test(each.getKey()))
                .map(each -> new Visitor(each.getKey(), each.getValue().at))
                .sorted(Comparator.comparingLong(Visitor::at))
                .limit(number)
                .toList();
        for (Visitor each : oldest) {
            known.remove(each.client);
            counts.computeIfPresent(each.client.user, (user, count) -> count == 1 ? null : count - 1);
        }
    }

    int size() {
        return known.size();
    }
}
