package dev.gateway.upstream.pool;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one pool. A stack holds the available ones, which have room for a stream: idle HTTP/1.1 connections,
 * and HTTP/2 connections below their limit. The connection used last is used next, so that surplus ones become idle and are
 * closed. Confined to the pool's event loop.
 */
final class PooledConnections {
    private PooledConnection[] available = new PooledConnection[4];
    private int availableCount;
    private PooledConnection[] all = new PooledConnection[4];
    private int allCount;

    /** Adds a connection, which is not available yet. */
    void add(PooledConnection connection) {
        if (allCount == all.length) {
            all = Arrays.copyOf(all, allCount * 2);
        }
        all[allCount++] = connection;
    }

    /** Removes a closed connection. */
    void remove(PooledConnection connection) {
        withdraw(connection);
        for (int i = 0; i < allCount; i++) {
            if (all[i] == connection) {
                all[i] = all[--allCount];
                clear(all, allCount);
                return;
            }
        }
    }

    boolean isEmpty() {
        return allCount == 0;
    }

    /** Counts connections that take requests, now or as soon as they are free. */
    int serving() {
        int count = 0;
        for (int i = 0; i < allCount; i++) {
            if (all[i].isServing()) {
                count++;
            }
        }
        return count;
    }

    /** Whether none is left that only finishes what it has. */
    boolean allServe() {
        return serving() == allCount;
    }

    /** Whether a connection takes requests, now or as soon as it is free, and meets a condition. */
    boolean hasServing(Predicate<PooledConnection> condition) {
        for (int i = 0; i < allCount; i++) {
            if (all[i].isServing() && condition.test(all[i])) {
                return true;
            }
        }
        return false;
    }

    /** Returns the available connection that was used last, or null if none is available. */
    @Nullable
    PooledConnection top() {
        return availableCount == 0 ? null : available[availableCount - 1];
    }

    /** Makes a connection available. */
    void push(PooledConnection connection) {
        if (availableCount == available.length) {
            available = Arrays.copyOf(available, availableCount * 2);
        }
        connection.slot = availableCount;
        available[availableCount++] = connection;
    }

    /** Makes a connection unavailable, if it was available. */
    void withdraw(PooledConnection connection) {
        int slot = connection.slot;
        if (slot >= 0) {
            connection.slot = -1;
            availableCount--;
            for (int i = slot; i < availableCount; i++) {
                available[i] = available[i + 1];
                available[i].slot = i;
            }
            clear(available, availableCount);
        }
    }

    @SuppressWarnings("NullAway") // nothing reads elements behind the count
    private static void clear(PooledConnection[] array, int index) {
        array[index] = null;
    }

    /** Returns the available connection that has been idle for longest, or null if none is idle. */
    @Nullable
    PooledConnection longestIdle() {
        for (int i = 0; i < availableCount; i++) {
            if (available[i].isIdle()) {
                return available[i];
            }
        }
        return null;
    }

    /** Calls the action for each available connection. The action may make it unavailable. */
    void forEachAvailable(Consumer<PooledConnection> action) {
        for (int i = availableCount - 1; i >= 0; i = Math.min(i, availableCount) - 1) {
            action.accept(available[i]);
        }
    }

    /** Calls the action for each current connection. */
    boolean areIdle() {
        boolean[] idle = {true};
        forEach(each -> idle[0] &= each.isIdle());
        return idle[0];
    }

    void forEach(Consumer<PooledConnection> action) {
        for (PooledConnection connection : Arrays.copyOf(all, allCount)) {
            action.accept(connection);
        }
    }

    PoolCounts counts(int dialing, int waiting) {
        int idle = 0;
        for (int i = 0; i < availableCount; i++) {
            if (available[i].isIdle()) {
                idle++;
            }
        }
        return new PoolCounts(idle, allCount - idle, dialing, waiting);
    }
}
