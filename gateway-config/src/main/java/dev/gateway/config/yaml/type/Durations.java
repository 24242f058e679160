package dev.gateway.config.yaml.type;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as GEP-2257 of the Gateway API writes them. */
public final class Durations {
    static final String PATTERN = "([0-9]{1,5}(h|m|s|ms)){1,4}";

    private static final Pattern WHOLE = Pattern.compile(PATTERN);
    private static final Pattern PART = Pattern.compile("([0-9]{1,5})(ms|h|m|s)");

    private Durations() {}

    /** Returns the duration that a text stands for, or null if it is none. */
    public static @Nullable Duration tryParse(String text) {
        try {
            return parse(text);
        } catch (InvalidException e) {
            return null;
        }
    }

    static Duration parse(String text) throws InvalidException {
        if (!WHOLE.matcher(text).matches()) {
            String hint = text.matches("[0-9]{1,5}") ? ": did you mean '" + text + "s'?" : "";
            throw new InvalidException(
                    "expected a duration such as 30s, 1m30s or 500ms, not " + Types.quote(text) + hint);
        }
        Duration sum = Duration.ZERO;
        Matcher part = PART.matcher(text);
        while (part.find()) {
            long amount = Long.parseLong(part.group(1));
            sum = sum.plus(
                    switch (part.group(2)) {
                        case "h" -> Duration.ofHours(amount);
                        case "m" -> Duration.ofMinutes(amount);
                        case "s" -> Duration.ofSeconds(amount);
                        default -> Duration.ofMillis(amount);
                    });
        }
        return sum;
    }

    /** Writes a duration as configurations do. */
    public static String print(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        StringBuilder text = new StringBuilder();
        append(text, duration.toHours(), "h");
        append(text, duration.toMinutesPart(), "m");
        append(text, duration.toSecondsPart(), "s");
        append(text, duration.toMillisPart(), "ms");
        return text.toString();
    }

    private static void append(StringBuilder text, long amount, String unit) {
        if (amount > 0) {
            text.append(amount).append(unit);
        }
    }
}
