package dev.gateway.filter.auth;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Passwords that wait to be hashed, or signatures that wait to be verified. Clients take turns, whatever number each has shown;
 * those that have failed of late come after all others. The adding code bounds it. Safe from any thread, none of which it
 * holds up.
 */
public final class HashingQueue {
    private final Map<Object, Deque<HashingTask>> waiting = new LinkedHashMap<>(); // in order of their turns
    private final Map<Object, Deque<HashingTask>> suspected = new LinkedHashMap<>();

    /** Puts a client's task behind its others. */
    public synchronized void add(Object client, boolean hasFailed, HashingTask task) {
        (hasFailed ? suspected : waiting)
                .computeIfAbsent(client, key -> new ArrayDeque<>(2))
                .add(task);
    }

    /** Takes the task whose turn it is; null if none waits. */
    public synchronized @Nullable HashingTask next() {
        HashingTask task = next(waiting);
        return task != null ? task : next(suspected);
    }

    private static @Nullable HashingTask next(Map<Object, Deque<HashingTask>> clients) {
        var first = clients.entrySet().iterator();
        if (!first.hasNext()) {
            return null;
        }
        Map.Entry<Object, Deque<HashingTask>> client = first.next();
        first.remove();
        HashingTask task = client.getValue().poll();
        if (!client.getValue().isEmpty()) {
            clients.put(client.getKey(), client.getValue()); // behind all others
        }
        return task;
    }

    /** Takes away the last task of the client that has failed and has most waiting; null if none of those waits. */
    public synchronized @Nullable HashingTask evict() {
        Object most = null;
        int length = 0;
        for (Map.Entry<Object, Deque<HashingTask>> client : suspected.entrySet()) {
            if (client.getValue().size() > length) {
                length = client.getValue().size();
                most = client.getKey();
            }
        }
        Deque<HashingTask> tasks = most == null ? null : suspected.get(most);
        if (tasks == null) {
            return null;
        }
        HashingTask last = tasks.pollLast();
        if (tasks.isEmpty()) {
            suspected.remove(most);
        }
        return last;
    }

    /** Takes a task back that could not be let in; it is the client's last. */
    synchronized void takeBack(Object client, boolean hasFailed) {
        Map<Object, Deque<HashingTask>> clients = hasFailed ? suspected : waiting;
        Deque<HashingTask> tasks = clients.get(client);
        if (tasks != null) {
            tasks.pollLast();
            if (tasks.isEmpty()) {
                clients.remove(client);
            }
        }
    }
}
