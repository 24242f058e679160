package dev.gateway.config;

import dev.gateway.config.value.Position;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * DNS resolver settings: how host names become addresses.
 *
 * @param nameServers whom to ask, in order; empty for those this machine is configured with
 * @param maxTtl how long an answer is used at most, whatever its TTL
 */
public record ResolverConfig(Position position, List<InetSocketAddress> nameServers, Duration maxTtl) {
    public ResolverConfig {
        nameServers = List.copyOf(nameServers);
    }
}
