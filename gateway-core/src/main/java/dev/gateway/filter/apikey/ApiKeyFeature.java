package dev.gateway.filter.apikey;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.yaml.schema.connect.ConnectAuthSchema;
import dev.gateway.config.yaml.schema.filter.AuthFilterSchema;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.format.AccountFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Filter type APIKey. */
public final class ApiKeyFeature implements FilterFeature<ApiKeyConfig> {
    static final String NAME = "APIKey";

    private static final String DEFAULT_HEADER = "X-API-Key";

    private static final ObjectType<ApiKeyConfig> SETTINGS = ObjectType.of(
            "apiKey section", "Lets only holders of a key use the route. The gateway answers others with 401.", o -> {
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        key -> nameIn(key, CredentialPlace.HEADER),
                        "Header field that has the key. Without this key, queryParameter and cookie it is X-API-Key.");
                var query = o.optional(
                        "queryParameter",
                        AuthFilterSchema.QUERY_PARAMETER,
                        key -> nameIn(key, CredentialPlace.QUERY_PARAMETER),
                        "Query parameter that has the key.");
                var cookie = o.optional(
                        "cookie",
                        AuthFilterSchema.COOKIE,
                        key -> nameIn(key, CredentialPlace.COOKIE),
                        "Cookie that has the key.");
                var file = o.required(
                        "keysFile",
                        Types.PATH,
                        ApiKeyConfig::keysFile,
                        "File of lines with a name, ':' and the SHA-256 of its key in hexadecimal. The gateway reads"
                                + " it again when it changes.");
                var realm = o.defaulted(
                        "realm",
                        ConnectAuthSchema.REALM,
                        AuthFilterSchema.REALM,
                        ApiKeyConfig::realm,
                        "Realm in WWW-Authenticate.");
                var forward = o.defaulted(
                        "forwardKey",
                        Types.BOOLEAN,
                        false,
                        ApiKeyConfig::forwardKey,
                        "Whether the upstream gets the key.");
                AuthFilterSchema.inOnePlace(o, "a key");
                return v -> {
                    if (v.has("keysFile")) {
                        AuthFilterSchema.checkFile(
                                v, "keysFile", v.get(file), (path, text) -> AccountFile.keys(path, text)
                                        .faults());
                    }
                    AuthFilterSchema.Place place =
                            AuthFilterSchema.place(v.find(header), v.find(query), v.find(cookie), DEFAULT_HEADER);
                    return new ApiKeyConfig(
                            v.position(), place.place(), place.name(), v.get(file), v.get(realm), v.get(forward));
                };
            });

    private static final FilterType<ApiKeyConfig, ?> TYPE =
            FilterType.of(NAME, "apiKey", ApiKeyConfig.class, SETTINGS).alsoCalled("keyauth"); // Kong

    /** Key of the API keys of a file. */
    private record Keys(Path file) {}

    @Override
    public FilterType<ApiKeyConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(ApiKeyConfig config, FilterSite site) throws StartException {
        Path file = config.keysFile();
        FilterFile.Use use = new FilterFile.Use(config.position(), NAME, "keys");
        FilterFile<ApiKeys> keys = FilterFile.of(new Keys(file), file, ApiKeys::read, use, site.states());
        return new ApiKey(KeyPlace.of(config.place(), config.name()), keys, config.realm(), config.forwardKey());
    }

    private static @Nullable String nameIn(ApiKeyConfig key, CredentialPlace place) {
        return key.place() == place ? key.name() : null;
    }
}
