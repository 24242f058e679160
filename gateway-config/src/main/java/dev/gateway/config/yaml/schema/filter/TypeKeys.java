package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Objects with a type, whose settings are in a key that belongs to the type. */
public final class TypeKeys {
    private TypeKeys() {}

    /** The key that belongs to the type is required, those of other types are refused. */
    public static <T> void choice(ObjectType.Declaration<T> o, Map<String, String> settings) {
        settings.forEach((type, key) -> o.with(key, "type: " + type));
        o.constraint(values -> misplaced(values, settings), choiceSchema(settings));
    }

    private static ObjectType.@Nullable Finding misplaced(Values values, Map<String, String> settings) {
        String type = values.resolved("type");
        String needed = settings.get(type);
        if (needed == null) {
            return null;
        }
        for (Map.Entry<String, String> other : settings.entrySet()) {
            String key = other.getValue();
            if (key.equals(needed) || !values.has(key)) {
                continue;
            }
            return new ObjectType.Finding(
                    key,
                    values.has(needed)
                            ? "'" + key + "' does not belong to type " + type + ": remove it"
                            : "type " + type + " needs '" + needed + "', and '" + key + "' belongs to type "
                                    + other.getKey() + ": rename one of the two");
        }
        return values.has(needed) ? null : new ObjectType.Finding("type", "type " + type + " needs '" + needed + "'");
    }

    private static Map<String, Object> choiceSchema(Map<String, String> settings) {
        List<Map<String, Object>> cases = settings.entrySet().stream()
                .map(choice -> {
                    Map<String, Object> then = new LinkedHashMap<>();
                    then.put("required", List.of(choice.getValue()));
                    then.put(
                            "not",
                            Map.of(
                                    "anyOf",
                                    settings.values().stream()
                                            .filter(other -> !other.equals(choice.getValue()))
                                            .map(ObjectType::requires)
                                            .toList()));
                    Map<String, Object> condition = Map.of(
                            "properties",
                            Map.of("type", Map.of("const", choice.getKey())),
                            "required",
                            List.of("type"));
                    return Map.<String, Object>of("if", condition, "then", then);
                })
                .toList();
        return Map.of("allOf", cases);
    }
}
