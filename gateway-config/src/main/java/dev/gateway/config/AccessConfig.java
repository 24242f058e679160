package dev.gateway.config;

import dev.gateway.format.Cidr;
import java.nio.file.Path;
import java.util.List;

/** Settings of filters that decide who may use a route. */
public final class AccessConfig {
    private AccessConfig() {}

    /**
     * Client addresses that may use a route or a listener, and those that may not.
     *
     * @param deny refused, even if allowed
     * @param denyFiles of more addresses that are refused
     * @param allow if there are any, or files of them, all other addresses are refused
     * @param allowFiles of more addresses that are allowed
     */
    public record IpAccess(
            Position position, List<Cidr> deny, List<Path> denyFiles, List<Cidr> allow, List<Path> allowFiles)
            implements FilterConfig {
        public IpAccess {
            deny = List.copyOf(deny);
            denyFiles = List.copyOf(denyFiles);
            allow = List.copyOf(allow);
            allowFiles = List.copyOf(allowFiles);
        }

        @Override
        public String type() {
            return "IPAccess";
        }

        @Override
        public boolean guards() {
            return true;
        }
    }

    /**
     * Users that may use a route, by name and password.
     *
     * @param usersFile lines as htpasswd writes them
     * @param forwardAuthorization whether the upstream gets the credentials
     */
    public record BasicAuth(Position position, String realm, Path usersFile, boolean forwardAuthorization)
            implements FilterConfig {
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
            return new ShownCredentials(KeyPlace.HEADER, "Authorization", !forwardAuthorization);
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

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
