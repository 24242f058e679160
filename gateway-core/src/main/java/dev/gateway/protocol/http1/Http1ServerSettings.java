package dev.gateway.protocol.http1;

import dev.gateway.net.ConnectionTimeouts;

/**
 * The limits of a downstream HTTP/1 connection.
 *
 * @param limits how large a head may be
 * @param timeouts how long the connection waits for its client
 * @param halfClose whether a client that has ended its direction gets the response that it waits for all the same
 * @param minBodyRate bytes per second that a client must send to be read on after its answer, 0 for any
 */
public record Http1ServerSettings(HeadLimits limits, ConnectionTimeouts timeouts, boolean halfClose, long minBodyRate) {
    /** Makes settings that let a client send as slowly as it likes. */
    public Http1ServerSettings(HeadLimits limits, ConnectionTimeouts timeouts, boolean halfClose) {
        this(limits, timeouts, halfClose, 0);
    }
}
