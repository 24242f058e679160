package dev.gateway.config.yaml.schema;

/** Filter types whose settings are still in the engine of the configuration. */
public final class EngineFilters {

    private EngineFilters() {}
}
