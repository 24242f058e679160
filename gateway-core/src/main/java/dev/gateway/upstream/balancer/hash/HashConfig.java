package dev.gateway.upstream.balancer.hash;

import dev.gateway.config.value.Position;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the policy Hash.
 *
 * @param keys what of requests is hashed; empty exactly if the policy is another one
 * @param balanceFactor how many percent of its share of requests in flight an endpoint may have, 0 for any number
 */
public record HashConfig(List<Key> keys, int balanceFactor) {
    public HashConfig {
        keys = List.copyOf(keys);
    }

    /**
     * A part of requests that is hashed; exactly one is there.
     *
     * @param terminal whether keys after it do not count for a request that has it
     */
    public record Key(
            Position position,
            @Nullable String header,
            @Nullable String cookie,
            @Nullable String queryParameter,
            boolean path,
            boolean client,
            boolean terminal) {}
}
