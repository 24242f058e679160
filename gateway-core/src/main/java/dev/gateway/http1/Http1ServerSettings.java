package dev.gateway.http1;

import org.jspecify.annotations.Nullable;

/**
 * The limits of a downstream HTTP/1 connection. Times are in milliseconds, 0 for no limit.
 *
 * @param limits how large a head may be
 * @param requestHeadersMillis from a head's first byte to its last
 * @param requestBodyIdleMillis between two reads of a request body
 * @param idleMillis before the first request and between requests
 * @param maxConnectionAgeMillis after which the connection takes no new request
 * @param responseWriteIdleMillis how long a client may read nothing of what waits for it
 * @param halfClose whether a client that has ended its direction gets the response that it waits for all the same
 * @param upgrade who takes a connection over that asks for {@code h2c}, null if nobody does
 */
public record Http1ServerSettings(
        HeadLimits limits,
        long requestHeadersMillis,
        long requestBodyIdleMillis,
        long idleMillis,
        long maxConnectionAgeMillis,
        long responseWriteIdleMillis,
        boolean halfClose,
        @Nullable Upgrade upgrade) {
    /** Returns the same with somebody who takes over connections that ask for {@code h2c}. */
    public Http1ServerSettings with(Upgrade upgrade) {
        return new Http1ServerSettings(
                limits,
                requestHeadersMillis,
                requestBodyIdleMillis,
                idleMillis,
                maxConnectionAgeMillis,
                responseWriteIdleMillis,
                halfClose,
                upgrade);
    }
}
