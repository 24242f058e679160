package dev.gateway.cli;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Lenient view of a part of a JSON document that another version of the gateway may have written: what is not there is 0
 * or empty. Read as the YAML that JSON is.
 */
record JsonView(@Nullable Object value) {
    private static final int MAX_CHARACTERS = 64 << 20;
    private static final LoadSettings SETTINGS =
            LoadSettings.builder().setCodePointLimit(MAX_CHARACTERS).build();

    /**
     * Reads a document.
     *
     * @throws IllegalArgumentException if it is not one
     */
    static JsonView parse(String json) {
        try {
            return new JsonView(new Load(SETTINGS).loadFromString(json));
        } catch (YamlEngineException e) {
            throw new IllegalArgumentException("the answer is not JSON", e);
        }
    }

    /** Returns the member of that name, or of the one below that the next name says, and so on. */
    JsonView at(String... names) {
        Object at = value;
        for (String name : names) {
            at = at instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return new JsonView(at);
    }

    double number(String... names) {
        return at(names).value instanceof Number number ? number.doubleValue() : 0;
    }

    boolean isTrue(String... names) {
        return Boolean.TRUE.equals(at(names).value);
    }

    String text(String... names) {
        Object text = at(names).value;
        return text == null ? "" : text.toString();
    }

    List<JsonView> list(String... names) {
        return at(names).value instanceof List<?> list
                ? list.stream().map(JsonView::new).toList()
                : List.of();
    }

    /** Returns the members that are numbers, by name. */
    Map<String, Double> numbers(String... names) {
        Map<String, Double> numbers = new TreeMap<>();
        if (at(names).value instanceof Map<?, ?> map) {
            map.forEach((name, each) -> {
                if (each instanceof Number number) {
                    numbers.put(String.valueOf(name), number.doubleValue());
                }
            });
        }
        return numbers;
    }
}
