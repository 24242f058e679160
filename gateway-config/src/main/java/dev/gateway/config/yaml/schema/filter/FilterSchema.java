package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.UncheckedFilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.ForeignType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a filter is: one of {@link FilterTypes}. */
public final class FilterSchema {
    /** What others have as a filter, and the gateway by other means or not at all. */
    private static final Map<String, String> NO_FILTER = Map.of(
            "circuitbreaker", "write circuitBreaker into the upstream", // Traefik
            "grpcweb", "the gateway does not translate gRPC-Web", // Traefik, Envoy
            "retry", "write retry into the rule"); // Traefik

    private FilterSchema() {}

    /** A filter without settings that could be read, which was reported. */
    private record Unread(Position position) implements FilterConfig {}

    /** Returns what a filter is that may have one of these types. */
    public static Type<FilterConfig> filter(FilterTypes types) {
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
                scope.problems.warning(
                        position,
                        "type: the gateway has no filter '" + type
                                + "'; if a plugin has it, --plugins DIR loads and runs that plugin to check the filter"
                                + Types.hint(type, words(types).keySet(), foreign(types)));
            }
            return new UncheckedFilterConfig(position, type, written);
        }

        @Override
        public @Nullable Object written(FilterConfig value) {
            return value instanceof UncheckedFilterConfig unchecked ? unchecked.written() : null;
        }
    }

    private static ObjectType<FilterConfig> known(FilterTypes types) {
        Map<String, String> foreign = foreign(types);
        ScalarType<String> type = Types.words(words(types), Map.of(), foreign, text -> otherwise(text, types));
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
                    foreign.forEach((word, meant) -> o.foreign(word, keys.getOrDefault(meant, meant)));
                    return v -> readers.stream()
                            .map(reader -> reader.read(v))
                            .filter(Objects::nonNull)
                            .findFirst()
                            .orElseGet(() -> new Unread(v.position()));
                });
    }

    /** Returns the end of the message about an unknown type. A list of our own types does not help who wants a plugin. */
    private static String otherwise(String text, FilterTypes types) {
        String absent = types.isOther(text) ? types.absent() : "";
        return !absent.isEmpty()
                ? "the gateway has no such filter, and " + absent
                : "expected one of " + String.join(", ", types.names());
    }

    /** Returns what others call types, or do by other means: the type, or a hint of its own. */
    private static Map<String, String> foreign(FilterTypes types) {
        Map<String, String> foreign = new HashMap<>(NO_FILTER);
        types.hints(FilterHint.Place.FILTER_TYPE).forEach(hint -> {
            for (String word : hint.words().split(" ")) {
                foreign.put(word, hint.meant());
            }
        });
        return foreign;
    }

    private static Map<String, String> words(FilterTypes types) {
        Map<String, String> words = new LinkedHashMap<>();
        types.names().forEach(name -> words.put(name, name));
        return words;
    }
}
