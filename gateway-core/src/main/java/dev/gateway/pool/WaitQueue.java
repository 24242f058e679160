package dev.gateway.pool;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Waiters in their order of arrival; any of them may leave at any time. */
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

    /** Whether a waiter is among so many that have waited for longest. */
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

    /** Returns those who wait now, for a loop in which others may come and go. */
    List<Waiter> copy() {
        List<Waiter> all = new ArrayList<>(size);
        for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
            all.add(waiter);
        }
        return all;
    }
}
