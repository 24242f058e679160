package dev.gateway.upstream;

import dev.gateway.stream.EndpointName;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint: one address of an upstream. A host that is a name is resolved when a connection is made, by the pool.
 *
 * @param index a small number that no other of its upstream has now, though one had it before that has gone; or {@link
 *     NamedByRequest#INDEX}
 * @param host a name, an IPv4 or IPv6 literal without brackets, or {@code unix:/path} with port 0
 * @param port 1 to 65535, 0 for a Unix-domain socket
 * @param weight its share of requests relative to its siblings, at least 1
 * @param name what TLS verifies and requests name as their host; differs from the host if that is an address of the name
 * @param zone where it is, null if nobody has said so
 */
public record Endpoint(int index, String host, int port, int weight, String name, @Nullable String zone)
        implements EndpointName {
    /** Makes an endpoint that is called as it is reached, in no zone. */
    public Endpoint(int index, String host, int port, int weight) {
        this(index, host, port, weight, host, null);
    }

    /** Where endpoints are reached, of whichever upstream or generation. */
    public record Address(String host, int port) {}

    /** Returns where it is reached. */
    public Address address() {
        return new Address(host, port);
    }

    /** Whether the other one is reached at the same place. */
    public boolean isSameAddress(Endpoint other) {
        return address().equals(other.address());
    }

    /** Returns {@code host:port} as logs and {@code Proxy-Status} show it. */
    @Override
    public String toString() {
        return port == 0 ? host : host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
