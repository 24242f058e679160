package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.Position;
import dev.gateway.config.UncheckedFilterConfig;
import dev.gateway.config.yaml.type.ForeignType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a filter is: one of {@link FilterTypes}. */
final class FilterSchema {
    private static final Map<String, String> FOREIGN = Map.of(
            "forwardauth", "ExternalAuth", // Traefik
            "authrequest", "ExternalAuth", // nginx
            "extauth", "ExternalAuth",
            "extauthz", "ExternalAuth", // Envoy
            "mirror", "RequestMirror", // nginx
            "mirroring", "RequestMirror", // Traefik
            "requestmirrorpolicies", "RequestMirror"); // Envoy

    private FilterSchema() {}

    /** Returns what a filter is that may have one of these types. */
    static Type<FilterConfig> filter(FilterTypes types) {
        ObjectType<FilterConfig> known = known(types);
        return types.others() == FilterTypes.Others.WRONG ? known : new ForeignType<>(known, new Unchecked(types));
    }

    /** Filters of plugins that are not loaded. */
    private record Unchecked(FilterTypes types) implements ForeignType.Foreign<FilterConfig> {
        @Override
        public boolean has(String type) {
            return types.isOther(type);
        }

        @Override
        public FilterConfig read(Position position, String type, Object written, Scope scope) {
            if (types.others() == FilterTypes.Others.WARNED_OF) {
                String near = Types.near(type, words(types).keySet(), FOREIGN);
                scope.problems.warning(
                        position,
                        "type: the gateway has no filter '" + type
                                + "'; if a plugin has it, --plugins DIR loads and runs that plugin to check the filter"
                                + (near == null ? "" : ": did you mean '" + near + "'?"));
            }
            return new UncheckedFilterConfig(position, type, written);
        }

        @Override
        public @Nullable Object written(FilterConfig value) {
            return value instanceof UncheckedFilterConfig unchecked ? unchecked.written() : null;
        }
    }

    private static ObjectType<FilterConfig> known(FilterTypes types) {
        ScalarType<String> type = Types.words(words(types), Map.of(), FOREIGN);
        return ObjectType.of(
                "filter",
                "A step that a request or its response passes. Each type has its settings in the key "
                        + "of the same name.",
                o -> {
                    o.required("type", type, FilterConfig::type, "What the filter does.");
                    List<FilterType.Reader> readers =
                            types.all().stream().map(each -> each.declare(o)).toList();
                    Map<String, String> keys = new LinkedHashMap<>();
                    types.all().forEach(each -> keys.put(each.name(), each.key()));
                    TypeKeys.choice(o, keys);
                    return v -> readers.stream()
                            .map(reader -> reader.read(v))
                            .filter(Objects::nonNull)
                            .findFirst()
                            .orElseGet(
                                    () -> new UrlRewrite(v.position(), null, null)); // reported, and used for nothing
                });
    }

    private static Map<String, String> words(FilterTypes types) {
        Map<String, String> words = new LinkedHashMap<>();
        types.names().forEach(name -> words.put(name, name));
        return words;
    }
}
