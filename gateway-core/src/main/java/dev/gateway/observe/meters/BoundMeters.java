package dev.gateway.observe.meters;

/** The gateway's meters in one registry. Used by one thread at a time. */
sealed interface BoundMeters permits FunctionMeters, PrometheusMeters {
    /** Removes the meters from the registry. */
    void remove();
}
