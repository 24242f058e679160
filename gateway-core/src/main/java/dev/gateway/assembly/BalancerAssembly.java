package dev.gateway.assembly;

import dev.gateway.config.LoadBalancerConfig;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.ConsistentHash;
import dev.gateway.upstream.HashKey;
import dev.gateway.upstream.LeastRequest;
import dev.gateway.upstream.PeakEwma;
import dev.gateway.upstream.RoundRobin;
import dev.gateway.upstream.WeightedRandom;
import java.util.List;

/** Balancer factory. Turns the configuration of a load balancer into what makes balancers. */
final class BalancerAssembly {
    private BalancerAssembly() {}

    static Balancer.Policy policy(LoadBalancerConfig config) {
        return switch (config.policy()) {
            case ROUND_ROBIN -> RoundRobin.policy();
            case LEAST_REQUEST -> LeastRequest::new;
            case RANDOM -> WeightedRandom::new;
            case PEAK_EWMA -> PeakEwma::new;
            case HASH -> {
                List<HashKey> keys =
                        config.hash().stream().map(BalancerAssembly::key).toList();
                yield hosts -> new ConsistentHash(hosts, keys, config.hashBalanceFactor());
            }
        };
    }

    private static HashKey key(LoadBalancerConfig.HashKey key) {
        String header = key.header();
        String cookie = key.cookie();
        String query = key.queryParameter();
        if (header != null) {
            return new HashKey(HashKey.Source.HEADER, header, key.terminal());
        } else if (cookie != null) {
            return new HashKey(HashKey.Source.COOKIE, cookie, key.terminal());
        } else if (query != null) {
            return new HashKey(HashKey.Source.QUERY_PARAMETER, query, key.terminal());
        }
        return new HashKey(key.path() ? HashKey.Source.PATH : HashKey.Source.CLIENT, "", key.terminal());
    }
}
