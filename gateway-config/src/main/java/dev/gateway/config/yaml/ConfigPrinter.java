package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.yaml.schema.RootSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.format.JsonString;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Prints the effective configuration: every default resolved, secrets masked. */
public final class ConfigPrinter {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z/][A-Za-z0-9_./+-]*|[0-9][0-9A-Za-z]*[A-Za-z]");
    private static final Pattern RESERVED = Pattern.compile("(?i)true|false|null|yes|no|on|off|y|n|[0-9]+e[0-9]+");

    private ConfigPrinter() {}

    /** Returns YAML that itself loads again, anywhere on this machine: paths are absolute. */
    public static String yaml(GatewayConfig config) {
        StringBuilder out = new StringBuilder();
        write(out, RootSchema.of(FilterTypes.of(config)).print(config, config.concealed()), "\n");
        return out.substring(1) + "\n";
    }

    /** Writes a value after a key and its colon, or after a dash. */
    private static void write(StringBuilder out, Object value, String newline) {
        if (value instanceof Map<?, ?> map && !map.isEmpty()) {
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(newline).append(entry.getKey()).append(':');
                write(out, entry.getValue(), newline + "  ");
            }
        } else if (value instanceof List<?> list && !list.isEmpty()) {
            for (Object item : list) {
                out.append(newline).append('-');
                if (item instanceof Map<?, ?> map && !map.isEmpty()) {
                    int first = out.length();
                    write(out, item, newline + "  ");
                    out.replace(first, first + newline.length() + 2, " "); // the first key stands beside the dash
                } else {
                    write(out, item, newline + "  ");
                }
            }
        } else {
            out.append(' ');
            scalar(out, value);
        }
    }

    private static void scalar(StringBuilder out, Object value) {
        if (value instanceof Map) {
            out.append("{}");
        } else if (value instanceof List) {
            out.append("[]");
        } else if (value instanceof String text
                && !(PLAIN.matcher(text).matches() && !RESERVED.matcher(text).matches())) {
            JsonString.append(out, text);
        } else {
            out.append(value);
        }
    }
}
