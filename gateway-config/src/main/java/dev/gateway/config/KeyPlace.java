package dev.gateway.config;

/** Where requests show a key. */
public enum KeyPlace {
    HEADER,
    QUERY_PARAMETER,
    COOKIE
}
