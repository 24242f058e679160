package dev.gateway.filter.auth;

import dev.gateway.stream.ClientNetwork;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which clients have logged in as which users before. Bounded; safe from any thread. */
final class KnownClients {
    private static final int MOST = 20_000;

    private final Set<Known> known = ConcurrentHashMap.newKeySet();

    /**
     * A client that is a user's.
     *
     * @param accounts where the user is, as users of the same name may be of several files
     */
    private record Known(Object accounts, String user, ClientNetwork client) {}

    void add(Object accounts, String user, ClientNetwork client) {
        Known added = new Known(accounts, user, client);
        if (known.contains(added)) {
            return;
        }
        if (known.size() >= MOST) {
            makeRoom();
        }
        known.add(added);
    }

    boolean has(Object accounts, String user, ClientNetwork client) {
        return known.contains(new Known(accounts, user, client));
    }

    /** Drops whatever comes first: so much that the next ones need not look again. */
    private void makeRoom() {
        Iterator<Known> all = known.iterator();
        for (int i = 0; i < MOST / 16 && all.hasNext(); i++) {
            all.next();
            all.remove();
        }
    }
}
