package dev.gateway.config.yaml;

import dev.gateway.format.JsonString;
import java.util.List;
import java.util.Map;

/** Writes maps, lists, strings, numbers and booleans as indented JSON. */
public final class Json {
    private Json() {}

    /** Returns the JSON of a value, with a line break at its end. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value, "\n");
        return out.append('\n').toString();
    }

    private static void write(StringBuilder out, Object value, String newline) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator).append(newline).append("  ");
                JsonString.append(out, String.valueOf(entry.getKey()));
                out.append(": ");
                write(out, entry.getValue(), newline + "  ");
                separator = ",";
            }
            out.append(map.isEmpty() ? "{}" : newline + "}");
        } else if (value instanceof List<?> list) {
            String separator = "[";
            for (Object item : list) {
                out.append(separator).append(newline).append("  ");
                write(out, item, newline + "  ");
                separator = ",";
            }
            out.append(list.isEmpty() ? "[]" : newline + "]");
        } else if (value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            JsonString.append(out, value.toString());
        }
    }
}
