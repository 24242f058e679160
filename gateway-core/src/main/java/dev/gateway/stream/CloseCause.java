package dev.gateway.stream;

import java.util.Locale;

/**
 * Close cause of an upstream connection: why a connection to an endpoint was closed. A closed set of words, for metrics.
 */
public enum CloseCause {
    /** No request needed it for as long as the settings allow, or as the endpoint keeps it. */
    IDLE_TIMEOUT,
    /** It was as old as {@code maxLifetime} allows. */
    MAX_LIFETIME,
    /** It had carried as many requests as the endpoint takes on one connection. */
    MAX_REQUESTS,
    /** The endpoint closed it, announced that it would, or broke the protocol while no request was under way. */
    ENDPOINT,
    /**
     * Its request ended early: the client left, a limit of time ran out, or the response was not valid. Of HTTP/2, many of its
     * requests have.
     */
    REQUEST,
    /** It carried a tunnel or an upgraded protocol, which has ended. */
    TUNNEL,
    /** The endpoint's name no longer leads to its address. */
    ADDRESS,
    /**
     * It was idle, and another connection needed its place: a limit was reached, or no open file was left. Or it was made
     * for a check beyond the limit.
     */
    LIMIT,
    /** It was made for a health check that needs a connection and nothing else. */
    HEALTH_CHECK,
    /** The endpoint or its upstream takes no more requests, or the gateway stops. */
    DRAIN;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns its word in metrics. */
    public String label() {
        return label;
    }
}
