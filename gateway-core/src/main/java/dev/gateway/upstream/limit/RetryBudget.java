package dev.gateway.upstream.limit;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Budget of retries or of hedges: how many an upstream takes, over all routes and event loops. In ten seconds these may be a
 * share of the requests of that time; a fixed number in each second is always possible. A request costs one addition; retries
 * do the rest of the work. Safe from any thread, without a lock.
 */
public final class RetryBudget {
    private static final long SLOT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int SLOTS = 10;
    private static final int WHOLE = 100;

    private final LongAdder requests = new LongAdder();
    private final AtomicReference<@Nullable Window> window = new AtomicReference<>();

    /**
     * A request begins that may be sent again.
     *
     * @param nanos now, from the same clock at each call
     */
    public void onRequest(long nanos) {
        if (window.get() == null) { // else the first retry would count the requests of all days before it
            window.compareAndSet(null, new Window(nanos, new long[SLOTS], new int[SLOTS]));
        }
        requests.increment();
    }

    /**
     * Takes one retry if the budget allows another.
     *
     * @param nanos now, from the same clock
     */
    public boolean tryTake(long nanos, int percent, int minPerSecond) {
        Window now = window(nanos);
        long share = (requests.sum() - now.requests[0]) * percent / WHOLE - now.retriesBefore;
        return now.tryTake(Math.max(share, minPerSecond));
    }

    private Window window(long nanos) {
        while (true) {
            Window before = window.get();
            if (before != null && nanos - before.beganNanos < SLOT_NANOS) {
                return before;
            }
            Window next = before == null
                    ? new Window(nanos, new long[SLOTS], new int[SLOTS])
                    : before.next(nanos, requests.sum());
            if (window.compareAndSet(before, next)) {
                return next;
            }
        }
    }

    /** The last ten seconds, in slots of one second; the current second is the last slot. */
    private static final class Window {
        final long beganNanos; // of the last slot
        final long[] requests; // for each slot: how many requests had begun when the slot began, of all time
        final int[] retries; // in each slot except the last
        final long retriesBefore;
        final AtomicInteger taken = new AtomicInteger(); // in the last slot

        Window(long beganNanos, long[] requests, int[] retries) {
            this.beganNanos = beganNanos;
            this.requests = requests;
            this.retries = retries;
            long sum = 0;
            for (int slot : retries) {
                sum += slot;
            }
            this.retriesBefore = sum;
        }

        boolean tryTake(long most) {
            int now;
            do {
                now = taken.get();
                if (now >= most) {
                    return false;
                }
            } while (!taken.compareAndSet(now, now + 1));
            return true;
        }

        /** Returns the window of a later second. Requests of seconds without a call are assumed to be spread evenly. */
        Window next(long nanos, long total) {
            long passed = (nanos - beganNanos) / SLOT_NANOS;
            long last = requests[SLOTS - 1];
            int kept = (int) Math.max(0, SLOTS - passed);
            long[] began = Arrays.copyOfRange(requests, SLOTS - kept, 2 * SLOTS - kept);
            int[] made = Arrays.copyOfRange(retries, SLOTS - kept, 2 * SLOTS - kept);
            if (kept > 0) {
                made[kept - 1] = taken.get();
            }
            for (int i = kept; i < SLOTS; i++) {
                long since = passed - (SLOTS - 1 - i);
                began[i] = last + (long) ((total - last) * ((double) since / passed));
            }
            return new Window(beganNanos + passed * SLOT_NANOS, began, made);
        }
    }
}
