package dev.gateway.upstream.balancer;

import dev.gateway.config.upstream.LoadBalancerConfig;
import dev.gateway.config.yaml.schema.upstream.BalancerType;
import dev.gateway.upstream.Balancer;
import java.util.List;
import java.util.function.Supplier;

/**
 * Balancer feature: all that the gateway knows of one balancing policy. One without settings is a file, another one a
 * package; {@code BuiltInBalancers} lists them.
 */
public interface BalancerFeature {
    /** Returns its name, and the keys, texts and checks of its settings. */
    BalancerType type();

    /** Makes the policy of one upstream. */
    Balancer.Policy create(LoadBalancerConfig config);

    /** Says for people how it chooses: its name, and what it goes by if that is configured. */
    default String summary(LoadBalancerConfig config) {
        return type().name();
    }

    /**
     * Returns the feature of a policy that has no settings.
     *
     * @param policies makes the policy of one upstream
     * @param foreign what other products call it, in lower case and without dashes
     */
    static BalancerFeature of(String name, Supplier<Balancer.Policy> policies, String... foreign) {
        BalancerType type = new BalancerType(name, List.of(foreign), null);
        return new BalancerFeature() {
            @Override
            public BalancerType type() {
                return type;
            }

            @Override
            public Balancer.Policy create(LoadBalancerConfig config) {
                return policies.get();
            }
        };
    }
}
