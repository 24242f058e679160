package dev.gateway.config.yaml.type;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A key that has a new name. The former name works for one minor version with a warning.
 *
 * @param since the version that has the new name, as 0.2
 */
record Renaming(String former, String current, String since) {
    private static final Pattern VERSION = Pattern.compile("([0-9]+)\\.([0-9]+)");

    Renaming {
        if (!VERSION.matcher(since).matches()) {
            throw new IllegalArgumentException("expected a version such as 0.2, not " + since);
        }
    }

    /** Returns the version that refuses the former name. */
    private String refused() {
        Matcher version = VERSION.matcher(since);
        version.matches();
        return version.group(1) + "." + (Integer.parseInt(version.group(2)) + 1);
    }

    /** Returns the warning about a file that has the former name. */
    String warning() {
        return "'" + former + "' is called '" + current + "' since " + since + "; it will be refused from " + refused();
    }

    /** Returns the error about a file that has both names. */
    String conflict() {
        return "'" + former + "' is the former name of '" + current + "', which is here too: remove '" + former + "'";
    }

    /** Returns what editors show at the former name. */
    String description() {
        return "Called " + current + " since " + since + ". " + refused() + " refuses this name.";
    }
}
