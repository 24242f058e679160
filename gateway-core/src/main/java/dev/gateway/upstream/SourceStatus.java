package dev.gateway.upstream;

import java.util.Locale;

/**
 * Source status: whether the endpoints of a source are up to date.
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
}
