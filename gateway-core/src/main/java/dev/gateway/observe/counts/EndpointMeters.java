package dev.gateway.observe.counts;

import dev.gateway.stream.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint metrics: what is counted of the attempts at one endpoint on one event loop, or at all endpoints that have no
 * counters of their own.
 */
public final class EndpointMeters {
    private static final int BEGUN = 0;
    private static final int ENDED = 1;
    private static final int LEFT = 2;
    private static final int FAILED = 3;
    private static final int SERVER_ERROR = 500;

    private final Counts counts = new Counts(4);
    public final Histogram durations = new Histogram(Histogram.Buckets.ENDPOINT);

    /** When the endpoint was found to be no part of the configuration any more, 0 if it is; of the sampling thread. */
    public long goneSinceNanos;

    /** Whether an attempt tells against its endpoint: it was not reached, did not answer well, or answered 5xx. */
    public static boolean isFailed(int status, @Nullable Failure failure) {
        if (failure == null) {
            return status >= SERVER_ERROR;
        }
        return !failure.stale()
                && switch (failure.cause()) {
                    case DNS_FAILED,
                            CONNECT_FAILED,
                            CONNECT_TIMEOUT,
                            TLS_FAILED,
                            UPSTREAM_RESET_BEFORE_HEADERS,
                            UPSTREAM_RESET_IN_BODY,
                            UPSTREAM_PROTOCOL_ERROR,
                            UPSTREAM_TIMEOUT -> true;
                    default -> false;
                };
    }

    /** An attempt has begun. */
    public void begun() {
        counts.add(BEGUN, 1);
    }

    /** The attempt went to another endpoint. */
    public void left() {
        counts.add(LEFT, 1);
    }

    /** An attempt has ended, after so many nanoseconds. */
    public void ended(boolean failed, long nanos) {
        if (failed) {
            counts.add(FAILED, 1);
        }
        durations.record(nanos);
        counts.add(ENDED, 1);
    }

    /** Returns how many attempts have ended. */
    public long requests() {
        return counts.get(ENDED);
    }

    /** Returns how many of them tell against the endpoint. */
    public long failures() {
        return counts.get(FAILED);
    }

    /** Returns how many attempts have begun and not ended. */
    public long active() {
        long over = counts.get(ENDED) + counts.get(LEFT); // first: it never exceeds what began before it was read
        return counts.get(BEGUN) - over;
    }
}
