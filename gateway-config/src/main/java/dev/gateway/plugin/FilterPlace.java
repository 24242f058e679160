package dev.gateway.plugin;

/**
 * Place of a filter among those of the gateway. Requests pass the places in this order, and responses in reverse. Filters of
 * one place keep the order in which a rule has them.
 */
public enum FilterPlace {
    /** After {@code IPAccess} and {@code CORS}, before all filters that ask who the client is. */
    ACCESS,
    /** After the gateway's own filters that find out who the client is, before {@code ExternalAuth} and {@code RateLimit}. */
    AUTHENTICATION,
    /** After all filters that refuse requests, before those that answer, such as {@code RequestRedirect}. The default. */
    REQUEST,
    /**
     * Last before the upstream. The filter sees the request as the upstream will get it. It is the first to see the
     * response, whose body the gateway has not compressed yet.
     */
    UPSTREAM
}
