package dev.gateway.net;

import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.format.Durations;

/**
 * How long a connection waits for its client, in milliseconds, 0 for no limit.
 *
 * @param requestHeadersMillis from a head's first byte to its last; in HTTP/2 also from the connection's start to the
 *     client's preface
 * @param requestBodyIdleMillis between two reads of a request body; in HTTP/2 as long as the response has not begun
 * @param idleMillis without a request
 * @param maxConnectionAgeMillis after which the connection takes no new request
 * @param responseWriteIdleMillis how long a client may read nothing of what waits for it
 */
public record ConnectionTimeouts(
        long requestHeadersMillis,
        long requestBodyIdleMillis,
        long idleMillis,
        long maxConnectionAgeMillis,
        long responseWriteIdleMillis) {
    /** Waits for as long as it takes. */
    public static final ConnectionTimeouts NONE = new ConnectionTimeouts(0, 0, 0, 0, 0);

    /** Makes those that are configured. */
    public static ConnectionTimeouts of(ListenerConfig.Timeouts config) {
        return new ConnectionTimeouts(
                Durations.millis(config.requestHeaders()),
                Durations.millis(config.requestBodyIdle()),
                Durations.millis(config.idle()),
                Durations.millis(config.maxConnectionAge()),
                Durations.millis(config.responseWriteIdle()));
    }
}
