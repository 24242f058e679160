package dev.gateway.tests.support;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The default of end-to-end tests for {@code retry.connectWait}: none, so that a request to an endpoint that nobody listens at
 * fails at once. A configuration that has the key is left as it is, and so is one with routes of TCP or TLS listeners, which
 * have no retries.
 */
final class NoConnectWait {
    private static final String KEY = "connectWait: 0s";
    private static final Pattern RETRY = Pattern.compile("\\bretry: *\\{");
    private static final Pattern PASSES_ON = Pattern.compile("\\bprotocol: (?:TCP|TLS)\\b");
    private static final Pattern RULE = Pattern.compile("(?m)^(.*?)\\bbackendRefs:");

    private NoConnectWait() {}

    /** Returns a configuration with the default in each rule that has no retry section of its own. */
    static String in(String yaml) {
        if (yaml.contains("connectWait:") || PASSES_ON.matcher(yaml).find()) {
            return yaml;
        }
        if (yaml.contains("retry:")) {
            return RETRY.matcher(yaml).replaceAll("retry: {" + KEY + ", ").replace(KEY + ", }", KEY + "}");
        }
        return RULE.matcher(yaml)
                .replaceAll(rule -> Matcher.quoteReplacement(rule.group(1) + between(rule.group(1)) + "backendRefs:"));
    }

    /** Returns the section as it goes between the beginning of a line and the key that follows there. */
    private static String between(String before) {
        boolean isBlock =
                before.isBlank() || before.strip().equals("-") || before.strip().matches("- *rules: *-");
        String section = "retry: {" + KEY + "}";
        return isBlock ? section + "\n" + " ".repeat(before.length()) : section + ", ";
    }
}
