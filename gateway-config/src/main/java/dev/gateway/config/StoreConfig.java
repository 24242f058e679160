package dev.gateway.config;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a store: where limits of several gateways count together.
 *
 * @param redis where it is
 * @param passwordFile a file of one line, read again when it changes; null for a store without such a file
 * @param caFile who vouches for it, null for the authorities of the platform
 * @param keyPrefix what its keys begin with
 * @param timeout of one answer
 * @param onError what becomes of requests while it does not answer
 */
public record StoreConfig(
        Position position,
        String name,
        Redis redis,
        @Nullable Path passwordFile,
        @Nullable Path caFile,
        String keyPrefix,
        Duration timeout,
        OnError onError) {
    /** What becomes of a request while the store does not answer. */
    public enum OnError {
        /** The gateway's own buckets decide. They also count, and refuse, while the store answers. */
        LOCAL,
        ALLOW,
        DENY
    }

    /**
     * A Redis server, as its URL has it.
     *
     * @param user null for the default user
     * @param password null if the URL has none
     */
    public record Redis(
            boolean tls, String host, int port, int database, @Nullable String user, @Nullable String password) {
        /** Returns the URL, with something else instead of a password. */
        public String masked(String mask) {
            String login = (user == null ? "" : user) + (password == null ? "" : ":" + mask);
            String at = host.indexOf(':') < 0 ? host : "[" + host + "]";
            return (tls ? "rediss://" : "redis://") + login + (login.isEmpty() ? "" : "@") + at + ":" + port + "/"
                    + database;
        }

        /** Leaves the password out. */
        @Override
        public String toString() {
            return masked("***");
        }
    }
}
