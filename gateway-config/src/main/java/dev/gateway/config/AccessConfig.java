package dev.gateway.config;

import java.nio.file.Path;

/** Settings of filters that find out who uses a route. */
public final class AccessConfig {
    private AccessConfig() {}

    /**
     * Holders of keys that may use a route.
     *
     * @param name of the header field, query parameter or cookie
     * @param keysFile lines of a name, a colon and a key's SHA-256
     * @param forwardKey whether the upstream gets the key
     */
    public record ApiKey(
            Position position, KeyPlace place, String name, Path keysFile, String realm, boolean forwardKey)
            implements FilterConfig {
        @Override
        public String type() {
            return "APIKey";
        }

        @Override
        public boolean guards() {
            return true;
        }

        @Override
        public boolean identifies() {
            return true;
        }

        @Override
        public ShownCredentials credentials() {
            return new ShownCredentials(place, name, !forwardKey);
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }
}
