package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Endpoint specification: an address that an upstream shall have as an endpoint.
 *
 * @param host a name, an IPv4 or IPv6 literal without brackets, or {@code unix:/path} with port 0
 * @param port 1 to 65535, 0 for a Unix-domain socket
 * @param weight its share of requests relative to its siblings, more than 0
 * @param name the name that TLS verifies and requests have as Host
 * @param zone where it is, null if that is not configured
 * @param source where the address comes from, as pages show it: {@code static}, or the kind of a source and its name, such as
 *     {@code dns:app.example.com}
 */
public record EndpointSpec(String host, int port, double weight, String name, @Nullable String zone, String source) {
    /** The source of addresses in the configuration. */
    public static final String STATIC = "static";

    /** Returns the specification of an endpoint in the configuration. */
    static EndpointSpec of(Endpoint endpoint) {
        return new EndpointSpec(
                endpoint.host(), endpoint.port(), endpoint.weight(), endpoint.name(), endpoint.zone(), STATIC);
    }

    /** Returns where it is reached. */
    public Endpoint.Address address() {
        return new Endpoint.Address(host, port);
    }

    /** Returns this with the weights of both, for two entries of the same address. */
    public EndpointSpec plus(EndpointSpec other) {
        return new EndpointSpec(host, port, weight + other.weight, name, zone, source);
    }

    /**
     * Returns this endpoint as part of an entry.
     *
     * @param factor what its weight is multiplied by
     * @param zoneOfEntry its zone if it has none
     * @param sourceOfEntry the source of the entry, as pages show it
     */
    public EndpointSpec in(double factor, @Nullable String zoneOfEntry, String sourceOfEntry) {
        return new EndpointSpec(host, port, weight * factor, name, zone == null ? zoneOfEntry : zone, sourceOfEntry);
    }

    /** Whether an existing endpoint meets this specification. Weight and source may differ. */
    boolean describes(Endpoint endpoint) {
        return address().equals(endpoint.address())
                && name.equals(endpoint.name())
                && (zone == null ? endpoint.zone() == null : zone.equals(endpoint.zone()));
    }

    /** Returns the endpoint with this index. */
    Endpoint at(int index) {
        return new Endpoint(index, host, port, (int) Math.max(1, Math.round(weight)), name, zone);
    }
}
