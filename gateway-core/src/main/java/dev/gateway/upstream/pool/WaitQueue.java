package dev.gateway.upstream.pool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A queue of those who wait for a connection; each may leave at any time. Clients take turns: one that is served goes behind all
 * other clients with what else it has here. Those of one client keep their order of arrival. So a client waits for one request of
 * each other client at most, however many these have.
 *
 * @param <E> those who wait
 */
final class WaitQueue<E extends WaitQueue.Entry<E>> {
    private final Map<Object, Line<E>> lines = new HashMap<>();
    private @Nullable Line<E> firstLine; // of the client whose turn it is
    private @Nullable Line<E> lastLine;
    private int size;

    /** One who waits. */
    abstract static class Entry<E extends Entry<E>> {
        /** Whose it is: equal for all that take turns as one. */
        final Object client;

        @Nullable
        Line<E> line;

        @Nullable
        E before;

        @Nullable
        E after;

        Entry(Object client) {
            this.client = client;
        }

        /** Whether it is in a queue. */
        final boolean isQueued() {
            return line != null;
        }

        /**
         * Returns since when its client's turn is due, while it is in a queue.
         *
         * @param sinceNanos when it began to wait
         */
        final long dueSinceNanos(long sinceNanos) {
            return line != null && line.served ? line.servedNanos : sinceNanos;
        }
    }

    /** Those of one client. */
    private static final class Line<E extends Entry<E>> {
        @Nullable
        E first;

        @Nullable
        E last;

        @Nullable
        Line<E> before;

        @Nullable
        Line<E> after;

        int size;
        boolean served;
        long servedNanos;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the one that is served next. */
    @Nullable
    E first() {
        return firstLine == null ? null : firstLine.first;
    }

    /** Returns the one that is served next of those that fit, null if none does. */
    @Nullable
    E first(Predicate<E> fits) {
        for (Line<E> line = firstLine; line != null; line = line.after) {
            for (E each = line.first; each != null; each = each.after) {
                if (fits.test(each)) {
                    return each;
                }
            }
        }
        return null;
    }

    /** Whether one is among the first of this number, as things are now. */
    boolean isAmongFirst(E entry, int count) {
        Line<E> own = entry.line;
        if (own == null || count <= 0) {
            return false;
        }
        int older = 0; // of the same client
        for (E each = entry.before; each != null && older < count; each = each.before) {
            older++;
        }
        int ahead = older;
        for (Line<E> line = own.before; line != null && ahead < count; line = line.before) {
            ahead += Math.min(line.size, older + 1);
        }
        for (Line<E> line = own.after; older > 0 && line != null && ahead < count; line = line.after) {
            ahead += Math.min(line.size, older);
        }
        return ahead < count;
    }

    void add(E entry) {
        Line<E> line = lines.get(entry.client);
        if (line == null) {
            line = new Line<>();
            lines.put(entry.client, line);
            append(line);
        }
        entry.line = line;
        entry.before = line.last;
        if (line.last == null) {
            line.first = entry;
        } else {
            line.last.after = entry;
        }
        line.last = entry;
        line.size++;
        size++;
    }

    /** Takes one out; its client keeps its turn. */
    void remove(E entry) {
        Line<E> line = entry.line;
        if (line == null) {
            return;
        }
        if (entry.before == null) {
            line.first = entry.after;
        } else {
            entry.before.after = entry.after;
        }
        if (entry.after == null) {
            line.last = entry.before;
        } else {
            entry.after.before = entry.before;
        }
        entry.before = entry.after = null;
        entry.line = null;
        line.size--;
        size--;
        if (line.size == 0) {
            lines.remove(entry.client);
            unlink(line);
        }
    }

    /** One is about to leave because it is served: its client has had its turn, and goes behind the others. */
    void endTurn(E entry, long nowNanos) {
        Line<E> line = entry.line;
        if (line != null) {
            line.served = true;
            line.servedNanos = nowNanos;
            unlink(line);
            append(line);
        }
    }

    private void append(Line<E> line) {
        line.before = lastLine;
        if (lastLine == null) {
            firstLine = line;
        } else {
            lastLine.after = line;
        }
        lastLine = line;
    }

    private void unlink(Line<E> line) {
        if (line.before == null) {
            firstLine = line.after;
        } else {
            line.before.after = line.after;
        }
        if (line.after == null) {
            lastLine = line.before;
        } else {
            line.after.before = line.before;
        }
        line.before = line.after = null;
    }

    /** Returns a copy in the order of service, for a loop that may change the queue. */
    List<E> copy() {
        List<E> round = new ArrayList<>();
        for (Line<E> line = firstLine; line != null; line = line.after) {
            if (line.first != null) {
                round.add(line.first);
            }
        }
        List<E> all = new ArrayList<>(size);
        while (!round.isEmpty()) {
            all.addAll(round);
            List<E> next = new ArrayList<>();
            for (E each : round) {
                if (each.after != null) {
                    next.add(each.after);
                }
            }
            round = next;
        }
        return all;
    }
}
