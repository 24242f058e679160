package dev.gateway.filter.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Announced policy of a limit: how responses name it.
 *
 * @param name of ASCII without quotes and backslashes
 * @param quota requests or bytes in a window, or requests at a time
 * @param windowSeconds 0 if it is no whole number of seconds, or the limit has no window
 * @param unit the registered name of what it counts, null for requests
 */
public record LimitPolicy(String name, long quota, long windowSeconds, @Nullable String unit) {
    /** The unit of requests at a time. */
    public static final String CONCURRENT_REQUESTS = "concurrent-requests";

    /** The unit of bytes of bodies. */
    public static final String CONTENT_BYTES = "content-bytes";
}
