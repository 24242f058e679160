package dev.gateway.upstream;

import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Source status: whether what a source brings is up to date, such as endpoints or keys.
 *
 * @param ageNanos time since the last good answer, negative if there was none
 * @param staleNanos for how long the source has failed, 0 if it does not fail
 * @param problem why it fails, empty if it does not fail
 */
public record SourceStatus(long ageNanos, long staleNanos, String problem) {
    /** Whether endpoints are up to date. */
    public enum State {
        /** There is no answer yet. */
        WAITING,
        FRESH,
        /** The source fails, and its last answer stays in use. */
        STALE;

        private final String label = name().toLowerCase(Locale.ROOT);

        /** Returns the word for pages. */
        public String label() {
            return label;
        }
    }

    /** Returns whether endpoints are up to date. */
    public State state() {
        return isStale() ? State.STALE : ageNanos < 0 ? State.WAITING : State.FRESH;
    }

    /** Whether the source fails. */
    public boolean isStale() {
        return !problem.isEmpty();
    }

    /** Returns this status. If it is not stale, but a part of the source is, the result has the problem of that part. */
    public SourceStatus or(SourceStatus part, String name) {
        return isStale() || !part.isStale()
                ? this
                : new SourceStatus(ageNanos, part.staleNanos, name + ": " + part.problem);
    }

    /**
     * Freshness of a source: the times of its last good answer and of its first failure since. One thread at a time writes;
     * any thread may read.
     */
    public static final class Freshness {
        private final LongSupplier clock;
        private volatile Known known = new Known(false, 0, "", 0);

        private record Known(boolean answered, long goodNanos, String problem, long failedNanos) {}

        /** Makes the freshness of a source without an answer yet; the clock returns nanoseconds. */
        public Freshness(LongSupplier clock) {
            this.clock = clock;
        }

        /** There was a good answer at that time. */
        public void onGood(long nanos) {
            known = new Known(true, nanos, "", 0);
        }

        /** A query failed. */
        public void onFailed(String problem) {
            onFailed(known.answered, known.goodNanos, problem);
        }

        /** The source fails; its last good answer was at that time. */
        public void onFailed(long goodNanos, String problem) {
            onFailed(true, goodNanos, problem);
        }

        private void onFailed(boolean answered, long goodNanos, String problem) {
            Known before = known;
            known = new Known(
                    answered, goodNanos, problem, before.problem.isEmpty() ? clock.getAsLong() : before.failedNanos);
        }

        /** Returns the status of the source now. */
        public SourceStatus status() {
            Known now = known;
            long nanos = clock.getAsLong();
            return new SourceStatus(
                    now.answered ? Math.max(0, nanos - now.goodNanos) : -1,
                    now.problem.isEmpty() ? 0 : Math.max(0, nanos - now.failedNanos),
                    now.problem);
        }
    }
}
