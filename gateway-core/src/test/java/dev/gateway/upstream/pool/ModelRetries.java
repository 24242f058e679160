package dev.gateway.upstream.pool;

import dev.gateway.upstream.limit.RetryBudget;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/** A model of retry budgets: reports a retry that the budget wrongly refuses, or wrongly grants. */
final class ModelRetries {
    private static final long SECOND = 1_000_000_000;

    private final int percent;
    private final int minPerSecond;
    private final IdentityHashMap<RetryBudget, Known> budgets = new IdentityHashMap<>();
    private boolean taken;

    /** What is known of one. */
    private static final class Known {
        long began; // when the second that runs did
        boolean used;
        int requests;
        int inSecond;

        void advance(long nanos) {
            if (!used) {
                used = true;
                began = nanos;
            }
            long seconds = (nanos - began) / SECOND;
            if (seconds > 0) {
                began += seconds * SECOND;
                inSecond = 0;
            }
        }
    }

    ModelRetries(int percent, int minPerSecond) {
        this.percent = percent;
        this.minPerSecond = minPerSecond;
    }

    void onRequest(RetryBudget budget, long nanos) {
        Known known = known(budget, nanos);
        known.requests++;
        budget.onRequest(nanos);
    }

    private Known known(RetryBudget budget, long nanos) {
        Known known = budgets.computeIfAbsent(budget, unknown -> new Known());
        known.advance(nanos);
        return known;
    }

    /** Takes one if there is one; returns what is wrong with the answer, null for nothing. */
    @Nullable
    String tryTake(RetryBudget budget, long nanos) {
        Known known = known(budget, nanos);
        taken = budget.tryTake(nanos, percent, minPerSecond);
        if (!taken) {
            return known.inSecond < minPerSecond ? "a retry was refused though " + known.inSecond + " were made" : null;
        }
        known.inSecond++;
        boolean fits = known.inSecond <= minPerSecond || known.inSecond <= known.requests * percent / 100;
        return fits ? null : known.inSecond + " retries in a second of " + known.requests + " requests";
    }

    /** Whether one was taken the last time. */
    boolean isTaken() {
        return taken;
    }
}
