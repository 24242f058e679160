package dev.gateway.filter.limit;

/**
 * Announced policy of a limit: how responses name it.
 *
 * @param name of ASCII without quotes and backslashes
 * @param quota requests in a window, or at a time
 * @param windowSeconds 0 if it is no whole number of seconds, or the limit has no window
 * @param isConcurrency whether it is a limit of requests in flight
 */
public record LimitPolicy(String name, long quota, long windowSeconds, boolean isConcurrency) {}
