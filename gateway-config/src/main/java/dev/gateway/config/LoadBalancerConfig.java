package dev.gateway.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Load balancer: how an endpoint is chosen.
 *
 * @param hash what of requests is hashed; empty exactly if the policy is not HASH
 * @param hashBalanceFactor how many percent of its share of requests in flight an endpoint may have with HASH, 0 for any
 *     number
 */
public record LoadBalancerConfig(Policy policy, List<HashKey> hash, int hashBalanceFactor) {
    public LoadBalancerConfig {
        hash = List.copyOf(hash);
    }

    /** Balancing policies. */
    public enum Policy {
        ROUND_ROBIN("RoundRobin"),
        LEAST_REQUEST("LeastRequest"),
        RANDOM("Random"),
        HASH("Hash"),
        PEAK_EWMA("PeakEwma");

        private final String word;

        Policy(String word) {
            this.word = word;
        }

        /** Returns its name in files and on pages. */
        public String word() {
            return word;
        }
    }

    /**
     * A part of requests that is hashed; exactly one is there.
     *
     * @param terminal whether keys after it do not count for a request that has it
     */
    public record HashKey(
            Position position,
            @Nullable String header,
            @Nullable String cookie,
            @Nullable String queryParameter,
            boolean path,
            boolean client,
            boolean terminal) {}
}
