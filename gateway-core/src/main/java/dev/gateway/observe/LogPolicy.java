package dev.gateway.observe;

import dev.gateway.config.observe.AccessLogConfig.Exchanges;

/**
 * Access log filter: of which exchanges the access log has lines. Immutable, shared by all event loops.
 *
 * @param sample the share of the exchanges that have not failed, 0 to 1
 */
public record LogPolicy(Exchanges exchanges, double sample) {
    /** A line for each exchange. */
    public static final LogPolicy ALL = new LogPolicy(Exchanges.ALL, 1);
}
