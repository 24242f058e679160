package dev.gateway.upstream;

import dev.gateway.stream.EndpointName;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint: one address of an upstream. If the host is a name, the pool resolves it when it connects.
 *
 * @param index a small number, unique among the current endpoints of the upstream. An endpoint that has gone may have had
 *     it before. {@link #NAMED_INDEX} for an endpoint that a request names
 * @param host a name, an IPv4 or IPv6 literal without brackets, or {@code unix:/path} with port 0
 * @param port 1 to 65535, 0 for a Unix-domain socket
 * @param weight its share of requests relative to its siblings, at least 1
 * @param name the name that TLS verifies and requests have as Host; differs from the host if that is an address of the name
 * @param zone where it is, null if that is not configured
 */
public record Endpoint(int index, String host, int port, int weight, String name, @Nullable String zone)
        implements EndpointName {
    /** The index of an endpoint that a request names, and that its upstream does not have. */
    public static final int NAMED_INDEX = -1;

    /** Makes an endpoint in no zone, whose name is its host. */
    public Endpoint(int index, String host, int port, int weight) {
        this(index, host, port, weight, host, null);
    }

    /** Where an endpoint is reached. Identifies it across upstreams and generations. */
    public record Address(String host, int port) {}

    /** Returns where it is reached. */
    public Address address() {
        return new Address(host, port);
    }

    /** Whether the other one is reached at the same place. */
    public boolean isSameAddress(Endpoint other) {
        return port == other.port && host.equals(other.host);
    }

    /** Returns {@code host:port} as logs and {@code Proxy-Status} show it. */
    @Override
    public String toString() {
        return port == 0 ? host : host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
