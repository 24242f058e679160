package dev.gateway.config.yaml;

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
                string(out, String.valueOf(entry.getKey()));
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
            string(out, value.toString());
        }
    }

    /** Writes a double-quoted string, which is the same in JSON and in YAML. */
    static void string(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ' || (c >= 0x7f && c < 0xa0) || c == '\u2028' || c == '\u2029' || c == '\ufeff') {
                        out.append("\\u").append(Integer.toHexString(0x10000 | c), 1, 5);
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
