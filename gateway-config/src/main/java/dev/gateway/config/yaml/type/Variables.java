package dev.gateway.config.yaml.type;

import dev.gateway.format.ShownText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Environment variable substitution. Replaces references to environment variables, as in a shell: a name, or a name and a
 * default, in {@code $} and braces. The default also stands for an empty variable. A second dollar sign before the brace
 * makes it a literal one. What was put in is not looked at again.
 */
public final class Variables {
    /** What is shorter is no secret, and may well be part of a message by chance. */
    private static final int SHORTEST_SECRET = 4;

    /** How much of a value shows that it is the value, even if the rest is cut off. */
    private static final int TELLING = 8;

    private final Map<String, String> environment;
    private final Map<String, String> used = new TreeMap<>(); // values by name

    /** Makes it of the variables that there are. */
    public Variables(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Whether a text has something to replace. */
    static boolean in(String text) {
        return text.contains("${");
    }

    /** Returns the text that stands for itself when read. */
    public static String escape(String text) {
        return text.replace("${", "$${");
    }

    /** Returns the text with the values of its variables. */
    public String replace(String text) throws InvalidException {
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
            throw InvalidException.withoutValue("'${" + name
                    + (dash < 0 ? "" : ":-...")
                    + "}' does not name an environment variable: expected ${NAME} or ${NAME:-default}"
                    + " (write $${ for a literal ${)");
        }
        String value = environment.get(name);
        if (dash >= 0) {
            String inserted = value == null || value.isEmpty() ? reference.substring(dash + 2) : value;
            used.put(name, inserted);
            return inserted;
        }
        if (value == null) {
            throw new InvalidException(
                    "the environment variable " + name + " is not set: set it, or write ${" + name + ":-default}");
        }
        used.put(name, value);
        return value;
    }

    /** Returns a message without the values that have been put in somewhere: the names of variables stand for them. */
    String conceal(String message) {
        String result = message;
        for (Map.Entry<String, String> each : used.entrySet()) {
            result = conceal(result, ShownText.line(each.getValue()), "${" + each.getKey() + "}");
        }
        return result;
    }

    private static String conceal(String message, String value, String name) {
        if (value.length() < SHORTEST_SECRET) {
            return message;
        }
        int telling = Math.min(value.length(), TELLING);
        StringBuilder result = new StringBuilder();
        int from = 0;
        for (int at = 0; at <= message.length() - telling; at++) {
            if (message.regionMatches(true, at, value, 0, telling)) {
                int end = at + telling;
                while (end < message.length()
                        && end - at < value.length()
                        && message.regionMatches(true, end, value, end - at, 1)) {
                    end++;
                }
                result.append(message, from, at).append(name);
                from = end;
                at = end - 1;
            }
        }
        return from == 0
                ? message
                : result.append(message, from, message.length()).toString();
    }
}
