package dev.gateway.config.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Writes the reference of all keys as Markdown. Its only source is the JSON Schema, beside the examples. */
final class ConfigReference {
    private static final Map<String, String> EFFECTS = Map.of(
            "atOnce", "at once",
            "newConnections", "new connections",
            "reconnect", "reconnects",
            "rebind", "rebinds",
            "restart", "restart");

    private final JsonNode schema;
    private final Map<String, String> examples;
    private final Map<String, Found> objects = new LinkedHashMap<>(); // by definition
    private final StringBuilder out = new StringBuilder();

    /** Where an object is used. */
    private record Found(Set<String> paths, Set<String> effects) {}

    /**
     * Makes it.
     *
     * @param examples configurations by the top-level key that they show
     */
    ConfigReference(JsonNode schema, Map<String, String> examples) {
        this.schema = schema;
        this.examples = examples;
    }

    /** Returns the page; the introduction comes first. */
    String page(String introduction) {
        Map<String, JsonNode> top = new TreeMap<>();
        properties(schema).forEach(top::put);
        properties(schema).forEach((key, property) -> find(property, key, "atOnce"));
        out.append(introduction).append('\n');
        summary(top);
        top.forEach(this::section);
        List<String> shared =
                objects.keySet().stream().filter(this::isShared).sorted().toList();
        if (!shared.isEmpty()) {
            out.append("## Shared objects\n\nMore than one key has these objects.\n\n");
            shared.forEach(this::object);
        }
        values();
        return out.toString().strip() + "\n";
    }

    private void summary(Map<String, JsonNode> top) {
        out.append("| key | type | default | reload | meaning |\n|---|---|---|---|---|\n");
        top.forEach((key, property) -> out.append("| [`" + key + "`](#" + slug(key) + ") | " + type(property) + " | "
                + fallback(schema, key, property) + " | " + effectOfSection(key, property) + " | "
                + cell(text(property)) + " |\n"));
        out.append('\n');
    }

    /** Keys of objects have effects of their own. */
    private String effectOfSection(String key, JsonNode property) {
        return isListOfObjects(property) || isObject(property)
                ? "[by key](#" + slug(key) + ")"
                : effect(property, "atOnce");
    }

    private void section(String key, JsonNode property) {
        out.append("## `").append(key).append("`\n\n").append(text(property)).append("\n\n");
        String example = examples.get(key);
        if (example == null) {
            throw new IllegalStateException("no example of the key " + key);
        }
        out.append("```yaml\n").append(example.strip()).append("\n```\n\n");
        if (isListOfObjects(property)) {
            out.append("A list. Each element has these keys:\n\n");
        } else if (!isObject(property)) {
            out.append("Type: ").append(type(property));
            out.append(". Default: ").append(fallback(schema, key, property));
            out.append(". Reload: ").append(effect(property, "atOnce")).append(".\n\n");
        }
        objects.forEach((definition, found) -> {
            if (!isShared(definition) && found.paths().iterator().next().matches(key + "(\\W.*)?")) {
                object(definition);
            }
        });
    }

    private void object(String definition) {
        Found found = found(definition);
        JsonNode object = schema.at("/$defs/" + definition);
        boolean top = found.paths().size() == 1
                && schema.get("properties").has(found.paths().iterator().next().replace("[]", ""));
        if (!top) { // which has a heading and a text of its own
            out.append("### ").append(title(definition)).append("\n\n");
            out.append(text(object)).append('\n');
        }
        if (found.paths().size() > 1) {
            out.append("\nFound at ")
                    .append(found.paths().stream().map(path -> "`" + path + "`").collect(Collectors.joining(", ")))
                    .append(".\n");
        }
        if (found.effects().size() > 1) {
            throw new IllegalStateException(definition + " needs an effect on reload of its own: " + found);
        }
        String inherited = found.effects().iterator().next();
        out.append(top ? "" : "\n").append("| key | type | default | reload | meaning |\n|---|---|---|---|---|\n");
        properties(object)
                .forEach((key, property) -> out.append("| `" + key + "` | " + type(property) + " | "
                        + fallback(object, key, property) + " | " + effect(property, inherited) + " | "
                        + (property.has("deprecated") ? "Deprecated. " : "") + cell(text(property)) + " |\n"));
        out.append('\n');
    }

    private void values() {
        out.append("## Values\n\n");
        Set<String> names = new TreeSet<>();
        schema.get("$defs").fieldNames().forEachRemaining(names::add);
        for (String name : names) {
            JsonNode definition = schema.at("/$defs/" + name);
            if (!definition.has("properties") && !name.equals("Variable")) {
                out.append("### ")
                        .append(words(name))
                        .append("\n\n")
                        .append(text(definition))
                        .append("\n\n");
            }
        }
    }

    /** Collects the objects that a property leads to. */
    private void find(JsonNode property, String path, String inherited) {
        String effect = property.has("x-reload") ? property.get("x-reload").textValue() : inherited;
        if (property.has("items")) {
            find(property.get("items"), path + "[]", effect);
        } else if (isObject(property)) {
            String definition = definition(property);
            Found found =
                    objects.computeIfAbsent(definition, name -> new Found(new LinkedHashSet<>(), new TreeSet<>()));
            found.paths().add(path);
            found.effects().add(effect);
            properties(schema.at("/$defs/" + definition))
                    .forEach((key, inner) -> find(inner, path + "." + key, effect));
        } else if (isWordOrObject(property)) {
            find(property.get("anyOf").get(1), path, effect);
        }
    }

    /** Whether a word says it, or an object. */
    private boolean isWordOrObject(JsonNode property) {
        return property.has("anyOf") && isObject(property.get("anyOf").get(1));
    }

    private Found found(String definition) {
        return Objects.requireNonNull(objects.get(definition), definition);
    }

    private boolean isShared(String definition) {
        return found(definition).paths().stream()
                        .map(path -> path.replaceFirst("\\W.*", ""))
                        .distinct()
                        .count()
                > 1;
    }

    private boolean isListOfObjects(JsonNode property) {
        return property.has("items") && isObject(property.get("items"));
    }

    private boolean isObject(JsonNode property) {
        return property.has("$ref")
                && schema.at("/$defs/" + definition(property)).has("properties");
    }

    private static String definition(JsonNode property) {
        return property.get("$ref").textValue().replace("#/$defs/", "");
    }

    private static Map<String, JsonNode> properties(JsonNode object) {
        Map<String, JsonNode> properties = new LinkedHashMap<>();
        object.get("properties").properties().forEach(each -> properties.put(each.getKey(), each.getValue()));
        return properties;
    }

    private String title(String definition) {
        Set<String> paths = found(definition).paths();
        return paths.size() > 1 ? words(definition) : "`" + paths.iterator().next() + "`";
    }

    private String type(JsonNode property) {
        if (property.has("items")) {
            return "list of " + type(property.get("items"));
        } else if (isObject(property)) {
            String definition = definition(property);
            return "[" + (found(definition).paths().size() > 1 ? words(definition) : "object") + "](#"
                    + slug(title(definition)) + ")";
        } else if (property.has("$ref")) {
            return "[" + words(definition(property)) + "](#" + slug(words(definition(property))) + ")";
        }
        JsonNode scalar = property.get("anyOf").get(0);
        if (isWordOrObject(property)) {
            return type(scalar) + ", or " + type(property.get("anyOf").get(1));
        }
        if (scalar.has("enum")) {
            List<String> words = new ArrayList<>();
            scalar.get("enum").forEach(word -> words.add("`" + word.asText() + "`"));
            return String.join(", ", words);
        } else if (scalar.has("title")) {
            return cell(scalar.get("title").textValue());
        } else if (scalar.path("type").asText().equals("integer")) {
            return "integer from " + scalar.get("minimum") + " to " + scalar.get("maximum");
        } else if (scalar.path("type").asText().equals("boolean")) {
            return "`true`, `false`";
        } else if (scalar.has("const")) {
            return "`" + scalar.get("const") + "`";
        }
        throw new IllegalStateException("a type without a name: " + scalar);
    }

    private static String fallback(JsonNode object, String key, JsonNode property) {
        for (JsonNode required : object.path("required")) {
            if (required.textValue().equals(key)) {
                return "required";
            }
        }
        JsonNode value = property.get("default");
        if (value == null) {
            return "–";
        }
        String text = value.isTextual() && !value.textValue().isEmpty() ? value.textValue() : value.toString();
        return "`" + text.replace("\",\"", "\", \"") + "`";
    }

    private static String effect(JsonNode property, String inherited) {
        String effect = property.has("x-reload") ? property.get("x-reload").textValue() : inherited;
        return "[" + EFFECTS.get(effect) + "](#reload)";
    }

    private static String text(JsonNode described) {
        return described.get("description").textValue();
    }

    private static String cell(String text) {
        return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*");
    }

    /** Returns "host name" for hostName. */
    private static String words(String definition) {
        StringBuilder words = new StringBuilder();
        for (String word : definition.split("(?<=[a-z])(?=[A-Z])")) {
            boolean acronym = word.equals(word.toUpperCase(Locale.ROOT));
            words.append(words.isEmpty() ? "" : " ").append(acronym ? word : word.toLowerCase(Locale.ROOT));
        }
        return words.toString();
    }

    /** Returns the anchor of a heading, as GitHub and Python-Markdown make it. */
    private static String slug(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\w\\- ]", "")
                .strip()
                .replace(' ', '-');
    }
}
