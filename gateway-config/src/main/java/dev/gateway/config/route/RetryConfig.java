package dev.gateway.config.route;

import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Retry policy: when a request is sent again.
 *
 * @param attempts how many further attempts may be made, 0 for none
 * @param bufferLimit bytes of a request's body that are kept for another attempt
 */
public record RetryConfig(
        Position position, int attempts, When when, Waiting waiting, long bufferLimit, Budget budget) {

    /** What happened to an attempt. */
    public enum On {
        /** No connection could be made. */
        CONNECT_FAILURE,
        /** The endpoint did not answer: it closed or reset, or a time limit of the attempt was over. */
        RESET,
        /** The endpoint said that it did not look at the request. */
        REFUSED_STREAM,
        /** It answered with 502, 503 or 504. */
        GATEWAY_ERROR,
        /** It answered with one of {@link When#codes}. */
        RETRIABLE_STATUS
    }

    /**
     * What is sent again.
     *
     * @param on after what
     * @param codes response statuses that count as failed, besides those of a gateway
     * @param methods of the requests, upper case
     */
    public record When(Set<On> on, Set<Integer> codes, List<String> methods) {
        public When {
            EnumSet<On> events = EnumSet.noneOf(On.class);
            events.addAll(on);
            on = Collections.unmodifiableSet(events); // in the order of the constants
            codes = Set.copyOf(codes);
            methods = List.copyOf(methods);
        }

        /** Whether a response with this status counts as failed. */
        public boolean takes(int status) {
            return (on.contains(On.GATEWAY_ERROR) && status >= 502 && status <= 504)
                    || (on.contains(On.RETRIABLE_STATUS) && codes.contains(status));
        }
    }

    /**
     * How long the gateway waits.
     *
     * @param backoff the longest wait before the first further attempt, twice that before the next, and so on
     * @param retryAfter whether no attempt is made before the time that the endpoint has named
     * @param silentAfter how long an endpoint may answer nobody before another is tried, zero for ever
     * @param connectWait how long a request is tried again for which no connection can be made, zero for not at all
     */
    public record Waiting(Duration backoff, boolean retryAfter, Duration silentAfter, Duration connectWait) {}

    /**
     * How many retries an upstream takes.
     *
     * @param percent of the requests of the last ten seconds
     * @param minRetriesPerSecond that there may be in any case
     */
    public record Budget(Position position, int percent, int minRetriesPerSecond) {
        /** As many as are wanted. */
        public static final Budget UNLIMITED = new Budget(Position.NOWHERE, 100, Integer.MAX_VALUE);
    }
}
