package dev.gateway.protocol.http1;

/**
 * The limits of a downstream HTTP/1 connection.
 *
 * @param limits how large a head may be
 * @param timeouts how long the connection waits for its client
 * @param halfClose whether a client that has ended its direction gets the response that it waits for all the same
 * @param minBodyRate bytes per second that a client must send to be read on after its answer, 0 for any
 */
public record Http1ServerSettings(HeadLimits limits, Timeouts timeouts, boolean halfClose, long minBodyRate) {
    /** Makes settings that let a client send as slowly as it likes. */
    public Http1ServerSettings(HeadLimits limits, Timeouts timeouts, boolean halfClose) {
        this(limits, timeouts, halfClose, 0);
    }

    /**
     * How long a connection waits for its client, in milliseconds, 0 for no limit.
     *
     * @param requestHeadersMillis from a head's first byte to its last
     * @param requestBodyIdleMillis between two reads of a request body
     * @param idleMillis before the first request and between requests
     * @param maxConnectionAgeMillis after which the connection takes no new request
     * @param responseWriteIdleMillis how long a client may read nothing of what waits for it
     */
    public record Timeouts(
            long requestHeadersMillis,
            long requestBodyIdleMillis,
            long idleMillis,
            long maxConnectionAgeMillis,
            long responseWriteIdleMillis) {
        /** Waits for as long as it takes. */
        public static final Timeouts NONE = new Timeouts(0, 0, 0, 0, 0);
    }
}
