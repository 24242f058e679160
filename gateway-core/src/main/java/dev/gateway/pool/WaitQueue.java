package dev.gateway.pool;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue of waiting requests in their order of arrival; each may leave at any time. */
final class WaitQueue {
    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;

    int size() {
        return size;
    }

    @Nullable
    Waiter first() {
        return first;
    }

    /** Whether a waiter is among the first of this number. */
    boolean isAmongFirst(Waiter waiter, int count) {
        Waiter each = first;
        for (int i = 0; i < count && each != null; i++) {
            if (each == waiter) {
                return true;
            }
            each = each.after;
        }
        return false;
    }

    void add(Waiter waiter) {
        waiter.before = last;
        if (last == null) {
            first = waiter;
        } else {
            last.after = waiter;
        }
        last = waiter;
        waiter.queued = true;
        size++;
    }

    void remove(Waiter waiter) {
        if (waiter.before == null) {
            first = waiter.after;
        } else {
            waiter.before.after = waiter.after;
        }
        if (waiter.after == null) {
            last = waiter.before;
        } else {
            waiter.after.before = waiter.before;
        }
        waiter.before = waiter.after = null;
        waiter.queued = false;
        size--;
    }

    /** Returns a copy, for a loop that may change the queue. */
    List<Waiter> copy() {
        List<Waiter> all = new ArrayList<>(size);
        for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
            all.add(waiter);
        }
        return all;
    }
}
