package dev.gateway.format;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as GEP-2257 of the Gateway API writes them, such as {@code 1m30s}. */
public final class Durations {
    /** Matches each of them. */
    public static final String PATTERN = "([0-9]{1,5}(h|m|s|ms)){1,4}";

    private static final Pattern WHOLE = Pattern.compile(PATTERN);
    private static final Pattern PART = Pattern.compile("([0-9]{1,5})(ms|h|m|s)");

    private Durations() {}

    /** Returns the duration that a text stands for, or null if it is not one. */
    public static @Nullable Duration parse(String text) {
        if (!WHOLE.matcher(text).matches()) {
            return null;
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

    /** Writes a duration, without what is below a millisecond. */
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
