package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What a filter is: one of {@link FilterTypes}. */
final class FilterSchema {
    private static final Map<String, String> FOREIGN = Map.of(
            "forwardauth", "ExternalAuth", // Traefik
            "authrequest", "ExternalAuth", // nginx
            "extauth", "ExternalAuth",
            "extauthz", "ExternalAuth"); // Envoy

    private static final ScalarType<String> TYPE = Types.words(words(), later(), FOREIGN);

    /** A filter. */
    static final ObjectType<FilterConfig> FILTER = ObjectType.of(
            "filter",
            "A step that a request or its response passes. Each type has its settings in the key "
                    + "of the same name.",
            o -> {
                o.required("type", TYPE, FilterConfig::type, "What the filter does.");
                List<FilterType.Reader> readers =
                        FilterTypes.ALL.stream().map(type -> type.declare(o)).toList();
                FilterTypes.LATER.forEach((key, later) -> o.reserve(key, later.what()));
                Map<String, String> keys = new LinkedHashMap<>();
                FilterTypes.ALL.forEach(type -> keys.put(type.name(), type.key()));
                TypeKeys.choice(o, keys);
                return v -> readers.stream()
                        .map(reader -> reader.read(v))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElseGet(() -> new UrlRewrite(v.position(), null, null)); // reported, and used for nothing
            });

    private FilterSchema() {}

    private static Map<String, String> words() {
        Map<String, String> words = new LinkedHashMap<>();
        FilterTypes.names().forEach(name -> words.put(name, name));
        return words;
    }

    private static Map<String, String> later() {
        Map<String, String> later = new LinkedHashMap<>();
        FilterTypes.LATER.values().forEach(type -> later.put(type.name(), type.what()));
        return later;
    }
}
