package dev.gateway.assembly;

import dev.gateway.config.AccessConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.auth.ApiKey;
import dev.gateway.filter.auth.ApiKeys;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.process.StartException;
import java.nio.file.Path;

/** Makes filters that decide who may use a route. */
final class AccessFilters {
    private AccessFilters() {}

    /** Key of the API keys of a file. */
    private record Keys(Path file) {}

    static Filter apiKey(AccessConfig.ApiKey config, FilterSite site) throws StartException {
        KeyPlace place = KeyPlace.of(config.place(), config.name());
        Path file = config.keysFile();
        FilterFile.Use use = new FilterFile.Use(config.position(), "APIKey", "keys");
        FilterFile<ApiKeys> keys = FilterFile.of(new Keys(file), file, ApiKeys::read, use, site.states());
        return new ApiKey(place, keys, config.realm(), config.forwardKey());
    }
}
