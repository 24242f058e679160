package dev.gateway.config.yaml;

import dev.gateway.config.yaml.schema.RootSchema;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Describes configurations to editors. */
public final class ConfigSchema {
    private ConfigSchema() {}

    /** Returns a JSON Schema, draft 2020-12, as indented JSON. */
    public static String json() {
        Map<String, Object> definitions = new TreeMap<>();
        Map<String, Object> root = RootSchema.ROOT.definition(definitions);
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
        schema.put("title", "Gateway configuration");
        schema.putAll(root);
        schema.put("$defs", definitions);
        return Json.write(schema);
    }
}
