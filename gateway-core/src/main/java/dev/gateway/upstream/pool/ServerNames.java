package dev.gateway.upstream.pool;

import java.util.HashMap;
import java.util.Map;

/**
 * The names that connections of one upstream have asked for by TLS, where requests choose them: so many at a time on all
 * event loops together. Safe from any thread.
 */
final class ServerNames {
    /** Clients choose names, and each has connections of its own. */
    static final int MOST = 100;

    private final Map<String, Integer> loops = new HashMap<>(); // how many event loops have pools of a name

    /** Takes a name for an event loop; returns whether there was room. */
    synchronized boolean tryTake(String name) {
        if (!loops.containsKey(name) && loops.size() >= MOST) {
            return false;
        }
        loops.merge(name, 1, Integer::sum);
        return true;
    }

    /** An event loop has no pool of the name any more. */
    synchronized void release(String name) {
        loops.computeIfPresent(name, (known, count) -> count == 1 ? null : count - 1);
    }

    /** Whether there is room for another name. */
    synchronized boolean hasRoom() {
        return loops.size() < MOST;
    }
}
