package dev.gateway.filter.ratelimit.redis;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Redis connection settings.
 *
 * @param name of the store, for messages
 * @param url for messages, without a password
 * @param user null for the default one
 * @param password returns the current one, null for none; asked on event loops for each connection
 * @param probeKey of a bucket that nobody counts by: whether Redis lets the gateway write there shows whether it can be used
 * @param timeoutNanos of an answer
 */
public record RedisSettings(
        String name,
        String url,
        String host,
        int port,
        int database,
        @Nullable String user,
        Supplier<@Nullable String> password,
        String probeKey,
        long timeoutNanos) {
    /** Leaves the password out. */
    @Override
    public String toString() {
        return "store " + name + ", " + url;
    }
}
