package dev.gateway.upstream.assembly;

import dev.gateway.config.upstream.LoadBalancerConfig;
import dev.gateway.config.yaml.schema.upstream.BalancerType;
import dev.gateway.config.yaml.schema.upstream.BalancerTypeList;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.balancer.BalancerFeature;
import dev.gateway.upstream.balancer.LeastRequest;
import dev.gateway.upstream.balancer.PeakEwma;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.balancer.WeightedRandom;
import dev.gateway.upstream.balancer.hash.HashFeature;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Balancing policies: all that the gateway has. This is the one place that lists them. */
public final class BuiltInBalancers implements BalancerTypeList {
    /** The policies, each with what it goes by, in the order of messages and documents. */
    private static final List<BalancerFeature> IN_ORDER = List.of(
            RoundRobin.FEATURE, // whose turn it is
            LeastRequest.FEATURE, // requests in flight
            WeightedRandom.FEATURE, // chance
            new HashFeature(), // parts of the request
            PeakEwma.FEATURE); // requests in flight, and how long answers take

    private static final Map<String, BalancerFeature> BY_NAME = IN_ORDER.stream()
            .collect(Collectors.toUnmodifiableMap(feature -> feature.type().name(), Function.identity()));

    @Override
    public List<BalancerType> inOrder() {
        return IN_ORDER.stream().map(BalancerFeature::type).toList();
    }

    @Override
    public BalancerType usual() {
        return LeastRequest.FEATURE.type();
    }

    /** Makes the policy of one upstream. */
    static Balancer.Policy policy(LoadBalancerConfig config) {
        return feature(config).create(config);
    }

    /** Says how the policy of one upstream chooses. */
    public static String summary(LoadBalancerConfig config) {
        return feature(config).summary(config);
    }

    private static BalancerFeature feature(LoadBalancerConfig config) {
        BalancerFeature feature = BY_NAME.get(config.policy());
        if (feature == null) {
            throw new IllegalArgumentException("an unknown balancing policy: " + config.policy());
        }
        return feature;
    }
}
