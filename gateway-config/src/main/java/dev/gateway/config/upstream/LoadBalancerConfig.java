package dev.gateway.config.upstream;

import java.util.List;

/**
 * Load balancer: how an endpoint is chosen.
 *
 * @param policy the name of the policy
 * @param settings those of each policy that has some, also of those that are not chosen
 */
public record LoadBalancerConfig(String policy, List<Record> settings) {
    public LoadBalancerConfig {
        settings = List.copyOf(settings);
    }

    /** Returns the settings of this class, which one of the policies has. */
    public <S extends Record> S settings(Class<S> of) {
        return settings.stream()
                .filter(of::isInstance)
                .map(of::cast)
                .findFirst()
                .orElseThrow();
    }
}
