package dev.gateway.upstream.pool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue of those who wait for a connection; each may leave at any time. Clients take turns: one that is served goes behind all
 * other clients with what else it has here. Those of one client keep their order of arrival. So a client waits for one request of
 * each other client at most, however many these have. Clients that have much already come after all others.
 *
 * @param <E> those who wait
 */
final class WaitQueue<E extends WaitQueue.Entry<E>> {
    private final Map<Object, Line<E>> lines = new HashMap<>();
    private final Supplier<Set<Object>> clientsWithMuch; // at present
    private Set<Object> arrangedFor = Set.of(); // what it returned when the lines were put in order
    private @Nullable Line<E> firstLine; // of the client whose turn it is
    private @Nullable Line<E> lastLine;
    private @Nullable Line<E> firstOfMuch; // with this, the lines of clients with much begin
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

        /** Whether its client comes after all others, while it is in a queue. */
        final boolean comesLast() {
            return line != null && line.comesLast;
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
        final Object client;

        @Nullable
        E first;

        @Nullable
        E last;

        @Nullable
        Line<E> before;

        @Nullable
        Line<E> after;

        int size;
        boolean comesLast;
        boolean served;
        long servedNanos;

        Line(Object client) {
            this.client = client;
        }
    }

    /**
     * Makes an empty queue.
     *
     * @param clientsWithMuch returns the clients that come after all others; another object only if they change
     */
    WaitQueue(Supplier<Set<Object>> clientsWithMuch) {
        this.clientsWithMuch = clientsWithMuch;
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
        if (size > 0) { // each response asks
            arrange();
        }
        return firstLine == null ? null : firstLine.first;
    }

    /** Returns the one that is served next of those that fit, null if none does. */
    @Nullable
    E first(Predicate<E> fits) {
        arrange();
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
            ahead += line.comesLast == own.comesLast ? Math.min(line.size, older + 1) : line.size;
        }
        for (Line<E> line = own.after;
                older > 0 && line != null && line.comesLast == own.comesLast && ahead < count;
                line = line.after) {
            ahead += Math.min(line.size, older);
        }
        return ahead < count;
    }

    void add(E entry) {
        arrange();
        Line<E> line = lines.get(entry.client);
        if (line == null) {
            line = new Line<>(entry.client);
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
        if (size == 0) {
            arrangedFor = Set.of(); // remembers no clients that may have gone
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

    /** Puts the lines in order if other clients have much than before. */
    @SuppressWarnings("ReferenceEquality") // the same object means no change, and each response asks
    private void arrange() {
        Set<Object> much = clientsWithMuch.get();
        if (much == arrangedFor) {
            return;
        }
        boolean others = !much.equals(arrangedFor);
        arrangedFor = much;
        if (others) {
            Line<E> next = firstLine;
            firstLine = lastLine = firstOfMuch = null;
            while (next != null) {
                Line<E> line = next;
                next = line.after;
                append(line);
            }
        }
    }

    /** Puts a line behind those of its kind. */
    private void append(Line<E> line) {
        line.comesLast = arrangedFor.contains(line.client);
        line.after = line.comesLast ? null : firstOfMuch;
        line.before = line.after == null ? lastLine : line.after.before;
        if (line.before == null) {
            firstLine = line;
        } else {
            line.before.after = line;
        }
        if (line.after == null) {
            lastLine = line;
        } else {
            line.after.before = line;
        }
        if (line.comesLast && firstOfMuch == null) {
            firstOfMuch = line;
        }
    }

    private void unlink(Line<E> line) {
        if (firstOfMuch == line) {
            firstOfMuch = line.after;
        }
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
        List<E> all = new ArrayList<>(size);
        addRounds(firstLine, firstOfMuch, all);
        addRounds(firstOfMuch, null, all);
        return all;
    }

    private static <E extends Entry<E>> void addRounds(@Nullable Line<E> from, @Nullable Line<E> end, List<E> all) {
        List<E> round = new ArrayList<>();
        for (Line<E> line = from; line != null && line != end; line = line.after) {
            if (line.first != null) {
                round.add(line.first);
            }
        }
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
    }
}
