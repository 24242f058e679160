package dev.gateway.config.yaml;

import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.yaml.schema.RootSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Describes configurations to editors. */
public final class ConfigSchema {
    private ConfigSchema() {}

    /** Returns a JSON Schema, draft 2020-12, as indented JSON. */
    public static String json() {
        return json(List.of());
    }

    /** Returns a JSON Schema, draft 2020-12, as indented JSON, which also describes the filters of plugins. */
    public static String json(List<? extends FilterDeclaration> plugins) {
        Map<String, Object> definitions = new TreeMap<>();
        Map<String, Object> root = RootSchema.of(FilterTypes.with(plugins)).definition(definitions);
        root.remove("required"); // which file has it, no schema of one file knows
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
        schema.put("title", "Gateway configuration");
        schema.putAll(root);
        schema.put("$defs", definitions);
        return Json.write(schema);
    }
}
