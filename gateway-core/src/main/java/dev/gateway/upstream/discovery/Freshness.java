package dev.gateway.upstream.discovery;

import dev.gateway.upstream.SourceStatus;
import java.util.function.LongSupplier;

/**
 * Freshness of a source: the times of its last good answer and of its first failure since. One thread at a time writes; any
 * thread may read.
 */
final class Freshness {
    private final LongSupplier clock;
    private volatile Known known = new Known(false, 0, "", 0);

    private record Known(boolean answered, long goodNanos, String problem, long failedNanos) {}

    /** Makes the freshness of a source without an answer yet; the clock returns nanoseconds. */
    Freshness(LongSupplier clock) {
        this.clock = clock;
    }

    /** There was a good answer at that time. */
    void onGood(long nanos) {
        known = new Known(true, nanos, "", 0);
    }

    /** A query failed. */
    void onFailed(String problem) {
        onFailed(known.answered, known.goodNanos, problem);
    }

    /** The source fails; its last good answer was at that time. */
    void onFailed(long goodNanos, String problem) {
        onFailed(true, goodNanos, problem);
    }

    private void onFailed(boolean answered, long goodNanos, String problem) {
        Known before = known;
        known = new Known(
                answered, goodNanos, problem, before.problem.isEmpty() ? clock.getAsLong() : before.failedNanos);
    }

    SourceStatus status() {
        Known now = known;
        long nanos = clock.getAsLong();
        return new SourceStatus(
                now.answered ? Math.max(0, nanos - now.goodNanos) : -1,
                now.problem.isEmpty() ? 0 : Math.max(0, nanos - now.failedNanos),
                now.problem);
    }
}
