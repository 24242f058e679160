package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.yaml.type.FeatureList;

/** List of the balancing policies of the gateway. */
public interface BalancerTypeList extends FeatureList<BalancerType> {
    /** Returns the type that counts if nothing is written; it has no settings. */
    BalancerType usual();
}
