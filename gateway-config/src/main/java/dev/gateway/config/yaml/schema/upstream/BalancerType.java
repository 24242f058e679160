package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.upstream.LoadBalancerConfig;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Values;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Balancer type: what the configuration file knows of a balancing policy.
 *
 * @param name as the file has it
 * @param foreign what other products call it, in lower case and without dashes
 * @param settings null if it has none
 */
public record BalancerType(String name, List<String> foreign, @Nullable Settings<?> settings) {
    public BalancerType {
        foreign = List.copyOf(foreign);
    }

    /**
     * Settings of a policy: keys of the section {@code loadBalancer}.
     *
     * @param unwritten what they are if none is written
     * @param key the one that must be written with this policy, and only with it
     * @param example of its value
     * @param what the policy needs to know, such as "what to hash"
     * @param declare declares all its keys, and returns what reads them
     */
    public record Settings<S extends Record>(
            S unwritten,
            String key,
            String example,
            String what,
            Function<ObjectType.Declaration<LoadBalancerConfig>, Function<Values, S>> declare) {}
}
