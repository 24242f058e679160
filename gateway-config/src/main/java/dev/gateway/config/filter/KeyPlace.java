package dev.gateway.config.filter;

/** Where requests show a key. */
public enum KeyPlace {
    HEADER,
    QUERY_PARAMETER,
    COOKIE
}
