package dev.gateway.config.yaml.schema.upstream;

import java.util.List;

/** List of the balancing policies of the gateway. The engine of the configuration finds it by ServiceLoader. */
public interface BalancerTypeList {
    /** Returns all types, in the order in which messages and documents list them. */
    List<BalancerType> inOrder();

    /** Returns the type that counts if nothing is written; it has no settings. */
    BalancerType usual();
}
