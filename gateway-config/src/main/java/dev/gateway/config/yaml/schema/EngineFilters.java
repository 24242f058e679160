package dev.gateway.config.yaml.schema;

import dev.gateway.config.AccessConfig.ApiKey;
/** Filter types whose settings are still in the engine of the configuration. */
public final class EngineFilters {
    public static final FilterType<ApiKey, ?> API_KEY =
            FilterType.of("APIKey", "apiKey", ApiKey.class, AuthFilterSchema.API_KEY);

    private EngineFilters() {}
}
