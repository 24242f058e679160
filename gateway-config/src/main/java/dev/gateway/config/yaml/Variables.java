package dev.gateway.config.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Replaces references to environment variables, as in a shell: a name, or a name and a default, in {@code $} and
 * braces. The default also stands for an empty variable. A second dollar sign before the brace makes it a literal one.
 * What was put in is not looked at again.
 */
final class Variables {
    private final Map<String, String> environment;

    Variables(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Whether a text has something to replace. */
    static boolean in(String text) {
        return text.contains("${");
    }

    /** Returns the text that stands for itself when read. */
    static String escape(String text) {
        return text.replace("${", "$${");
    }

    String replace(String text) throws InvalidException {
        if (!in(text)) {
            return text;
        }
        StringBuilder result = new StringBuilder();
        int from = 0;
        for (int at = text.indexOf("${"); at >= 0; at = text.indexOf("${", from)) {
            if (at > from && text.charAt(at - 1) == '$') {
                result.append(text, from, at).append('{');
                from = at + 2;
                continue;
            }
            int end = text.indexOf('}', at);
            if (end < 0) {
                throw new InvalidException("'${' without a closing '}' (write $${ for a literal ${)");
            }
            result.append(text, from, at).append(value(text.substring(at + 2, end)));
            from = end + 1;
        }
        return result.append(text, from, text.length()).toString();
    }

    /** Returns the names that a text refers to. */
    static List<String> names(String text) {
        List<String> names = new ArrayList<>();
        for (int at = text.indexOf("${"); at >= 0; at = text.indexOf("${", at + 2)) {
            int end = text.indexOf('}', at);
            if (end > 0) {
                String reference = text.substring(at + 2, end);
                int dash = reference.indexOf(":-");
                names.add(dash < 0 ? reference : reference.substring(0, dash));
            }
        }
        return names;
    }

    private String value(String reference) throws InvalidException {
        int dash = reference.indexOf(":-");
        String name = dash < 0 ? reference : reference.substring(0, dash);
        if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw new InvalidException("'${" + reference
                    + "}' does not name an environment variable: expected ${NAME} or ${NAME:-default}"
                    + " (write $${ for a literal ${)");
        }
        String value = environment.get(name);
        if (dash >= 0) {
            return value == null || value.isEmpty() ? reference.substring(dash + 2) : value;
        }
        if (value == null) {
            throw new InvalidException(
                    "the environment variable " + name + " is not set: set it, or write ${" + name + ":-default}");
        }
        return value;
    }
}
