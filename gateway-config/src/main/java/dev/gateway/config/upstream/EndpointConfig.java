package dev.gateway.config.upstream;

import dev.gateway.config.value.Position;
import dev.gateway.format.IpLiteral;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint (backend address): an entry of an upstream's endpoints. It is one address, or a source of endpoints.
 *
 * @param weight its share of requests relative to its siblings, at least 1; the endpoints of a source share it
 * @param zone where it is, null if that is not configured; the endpoints of a file may have zones of their own
 */
public record EndpointConfig(Position position, Place place, int weight, @Nullable String zone) {

    /**
     * The address of an endpoint, or the source of endpoints. A source is a public record of the package that looks for its
     * endpoints; equal ones share one search.
     */
    public interface Place {
        /** Returns the key of the entry that has it. */
        String key();

        /** Returns what the key says: a name or a path. */
        String subject();

        /** Returns its port, 1 to 65535, or 0 if it has none. */
        default int port() {
            return 0;
        }

        /** Whether it is the address of one endpoint, which no source can change. */
        default boolean isAddress() {
            return false;
        }

        /** Returns the host that is its endpoint until its source answers, null if it has none before. */
        default @Nullable String host() {
            return null;
        }

        /** Whether it is a file, whose mistakes the operator can mend. */
        default boolean isFile() {
            return false;
        }

        /** Whether its endpoints may have zones of their own. */
        default boolean hasZones() {
            return false;
        }

        /** Says why a file of endpoints cannot have it, null if it can. */
        default @Nullable String notInFiles() {
            return null;
        }

        /** Says what is wrong with what it leads to, null if nothing is. May block on files. */
        default @Nullable String problem() {
            return null;
        }
    }

    /**
     * A host.
     *
     * @param name a name, or an IPv4 or IPv6 literal without brackets
     * @param port 1 to 65535
     */
    public record Host(String name, int port) implements Place {
        /** Of an entry. */
        public static final String KEY = "host";

        @Override
        public String key() {
            return KEY;
        }

        @Override
        public String subject() {
            return name;
        }

        @Override
        public boolean isAddress() {
            return IpLiteral.parse(name) != null;
        }

        @Override
        public String host() {
            return name;
        }
    }

    /** A Unix-domain socket. */
    public record Unix(Path path) implements Place {
        /** Of an entry. */
        public static final String KEY = "unix";

        @Override
        public String key() {
            return KEY;
        }

        @Override
        public String subject() {
            return path.toString();
        }

        @Override
        public boolean isAddress() {
            return true;
        }

        @Override
        public String host() {
            return "unix:" + path;
        }
    }
}
