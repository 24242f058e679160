package dev.gateway.filter.ratelimit;

/**
 * Announced policy of a limit: how responses name it.
 *
 * @param name of ASCII without quotes and backslashes
 * @param quota requests or bytes in a window, or requests at a time
 * @param windowSeconds 0 if it is no whole number of seconds, or the limit has no window
 */
public record LimitPolicy(String name, long quota, long windowSeconds, QuotaUnit unit) {}
