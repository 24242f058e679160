package dev.gateway.config;

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

    /** The address of an endpoint, or the source of endpoints. */
    public sealed interface Place permits Host, Unix, Dns, Srv, File {
        /** Whether it is the address of one endpoint, which no source can change. */
        default boolean isAddress() {
            return false;
        }
    }

    /**
     * A host.
     *
     * @param name a name, or an IPv4 or IPv6 literal without brackets
     * @param port 1 to 65535
     */
    public record Host(String name, int port) implements Place {
        @Override
        public boolean isAddress() {
            return IpLiteral.parse(name) != null;
        }
    }

    /** A Unix-domain socket. */
    public record Unix(Path path) implements Place {
        @Override
        public boolean isAddress() {
            return true;
        }
    }

    /**
     * A name each address of which is an endpoint.
     *
     * @param port 1 to 65535
     */
    public record Dns(String name, int port) implements Place {}

    /** A name whose SRV records have hosts and ports. */
    public record Srv(String name) implements Place {}

    /** A file with a list of entries, which have hosts, names or sockets. */
    public record File(Path path) implements Place {}
}
