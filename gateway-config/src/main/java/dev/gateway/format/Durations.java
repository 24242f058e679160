package dev.gateway.format;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as GEP-2257 of the Gateway API writes them, such as {@code 1m30s}. */
public final class Durations {
    /** Matches each of them. */
    public static final String PATTERN = "([0-9]{1,5}(h|m|s|ms)){1,4}";

    private static final Pattern WHOLE = Pattern.compile(PATTERN);
    private static final Pattern PART = Pattern.compile("([0-9]{1,5})(ms|h|m|s)");

    private static final String FOREIGN = "([0-9]{1,9}(?:\\.[0-9]{1,9})?) *(weeks?|w|days?|d|hours?|hrs?|h"
            + "|milliseconds?|millis|msecs?|ms|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])";

    /** With units of other products, spaces and fractions; in lower case. */
    private static final Pattern WHOLE_FOREIGN = Pattern.compile("(" + FOREIGN + " *)+");

    /** No duration that somebody means is longer. */
    private static final int LONGEST = 60;

    private static final Pattern FOREIGN_PART = Pattern.compile(FOREIGN);
    private static final Duration MOST = Duration.ofHours(99_999);

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

    /**
     * Returns what was probably meant by a text that is not a duration, as the end of a message. A bare number may be
     * milliseconds or seconds: other products have both. Empty if there is no guess.
     */
    public static String hint(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        if (lower.matches("0+|off|none|disabled?")) {
            return meant("0s");
        } else if (lower.matches("([0-9]{1,5}h)?[0-9]{1,5}[hm][0-9]{1,5}")) { // the last unit is left out
            return meant(lower + (lower.lastIndexOf('m') > 0 ? "s" : "m"));
        } else if (lower.matches("[0-9]{1,5}")) {
            return meant(lower + "ms", lower + "s");
        } else if (lower.matches("[0-9]{6,9}")) {
            long number = Long.parseLong(lower);
            Duration seconds = Duration.ofSeconds(number);
            String millis = print(Duration.ofMillis(number));
            return seconds.compareTo(MOST) > 0 ? meant(millis) : meant(millis, print(seconds));
        } else if (lower.length() > LONGEST || !WHOLE_FOREIGN.matcher(lower).matches()) {
            return "";
        }
        BigDecimal millis = BigDecimal.ZERO;
        Matcher part = FOREIGN_PART.matcher(lower);
        while (part.find()) {
            millis = millis.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(millisOf(part.group(2)))));
        }
        boolean whole = millis.stripTrailingZeros().scale() <= 0;
        return whole && millis.compareTo(BigDecimal.valueOf(MOST.toMillis())) <= 0
                ? meant(print(Duration.ofMillis(millis.longValueExact())))
                : "";
    }

    private static String meant(String... texts) {
        return ": did you mean '" + String.join("' or '", texts) + "'?";
    }

    private static long millisOf(String unit) {
        return switch (unit.charAt(0)) {
            case 'w' -> Duration.ofDays(7).toMillis();
            case 'd' -> Duration.ofDays(1).toMillis();
            case 'h' -> Duration.ofHours(1).toMillis();
            case 's' -> Duration.ofSeconds(1).toMillis();
            default ->
                unit.startsWith("ms") || unit.startsWith("mil")
                        ? 1
                        : Duration.ofMinutes(1).toMillis();
        };
    }

    /** Returns milliseconds, at least one for a duration that is not zero: 0 means no limit. */
    public static long millis(Duration duration) {
        return duration.isZero() ? 0 : Math.max(1, duration.toMillis());
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
