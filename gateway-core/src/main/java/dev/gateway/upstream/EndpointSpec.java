package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Endpoint specification: what is wanted of one address of an upstream, before it is an endpoint there.
 *
 * @param host a name, an IPv4 or IPv6 literal without brackets, or {@code unix:/path} with port 0
 * @param port 1 to 65535, 0 for a Unix-domain socket
 * @param weight its share of requests relative to its siblings, more than 0
 * @param name what TLS verifies and requests name as their host
 * @param zone where it is, null if nobody has said so
 * @param source who has named it, as pages show it: {@code static}, or such as {@code dns:app.example.com}
 */
public record EndpointSpec(String host, int port, double weight, String name, @Nullable String zone, String source) {
    /** The source of what the configuration lists. */
    public static final String STATIC = "static";

    /** The source of the addresses of a name, which follows it. */
    public static final String DNS = "dns:";

    /** Makes that of an endpoint that the configuration lists. */
    static EndpointSpec of(Endpoint endpoint) {
        return new EndpointSpec(
                endpoint.host(), endpoint.port(), endpoint.weight(), endpoint.name(), endpoint.zone(), STATIC);
    }

    /** Returns where it is reached. */
    public Endpoint.Address address() {
        return new Endpoint.Address(host, port);
    }

    /** Returns this with the weight of another of the same address as well. */
    public EndpointSpec plus(EndpointSpec other) {
        return new EndpointSpec(host, port, weight + other.weight, name, zone, source);
    }

    /** Whether an endpoint is what is wanted, except for its weight and who has named it. */
    boolean describes(Endpoint endpoint) {
        return address().equals(endpoint.address())
                && name.equals(endpoint.name())
                && (zone == null ? endpoint.zone() == null : zone.equals(endpoint.zone()));
    }

    /** Returns what it is in a place of its own. */
    Endpoint at(int index) {
        return new Endpoint(index, host, port, (int) Math.max(1, Math.round(weight)), name, zone);
    }
}
