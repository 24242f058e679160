package dev.gateway.config;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * DNS resolver settings: how host names become addresses.
 *
 * @param nameServers whom to ask, in order; empty for those this machine is configured with
 */
public record ResolverConfig(Position position, List<InetSocketAddress> nameServers) {
    public ResolverConfig {
        nameServers = List.copyOf(nameServers);
    }
}
