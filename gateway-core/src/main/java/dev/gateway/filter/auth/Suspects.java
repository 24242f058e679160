package dev.gateway.filter.auth;

import dev.gateway.stream.ClientNetwork;

/** Clients that have failed of late, and all others of an IPv6 site that has one. Safe from any thread. */
public final class Suspects {
    private final FailureCounts failures;

    /** Makes it. Other keys may be counted in the same place. */
    public Suspects(FailureCounts failures) {
        this.failures = failures;
    }

    /** What one customer of a provider has: an IPv6 network of 48 bits. */
    private record Site(long high) {
        static Site of(ClientNetwork network) {
            return new Site(network.high() >> 16);
        }
    }

    /** Notes that a client has failed. */
    public void add(Object client) {
        failures.add(client);
        if (client instanceof ClientNetwork network && network.kind() == ClientNetwork.Kind.IPV6) {
            failures.add(Site.of(network));
        }
    }

    /** Whether a client, or a neighbor of it, has failed of late. */
    public boolean has(Object client) {
        return failures.any(client)
                || (client instanceof ClientNetwork network
                        && network.kind() == ClientNetwork.Kind.IPV6
                        && failures.any(Site.of(network)));
    }
}
