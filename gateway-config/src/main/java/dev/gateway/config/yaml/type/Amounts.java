package dev.gateway.config.yaml.type;

import dev.gateway.format.Durations;
import dev.gateway.format.Sizes;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a configuration writes durations, and sizes in bytes: a number, with a binary unit. */
final class Amounts {
    static final String SIZE_PATTERN = "[0-9]{1,15}(B|KiB|MiB|GiB|TiB)?";

    private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})(B|KiB|MiB|GiB|TiB)?");

    private Amounts() {}

    static Duration duration(String text) throws InvalidException {
        Duration duration = Durations.parse(text);
        if (duration == null) {
            throw new InvalidException("expected a duration such as 30s, 1m30s or 500ms, not " + MessageText.quote(text)
                    + Durations.hint(text));
        }
        return duration;
    }

    static long size(String text) throws InvalidException {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            Matcher foreign =
                    Pattern.compile("([0-9]{1,15}) *([kKmMgGtT])[iI]?[bB]?").matcher(text);
            String hint = foreign.matches()
                    ? ": did you mean '" + foreign.group(1) + foreign.group(2).toUpperCase(Locale.ROOT) + "iB'?"
                    : fractionHint(text);
            throw new InvalidException("expected a size such as 64KiB or 10MiB, not " + MessageText.quote(text) + hint);
        }
        long amount = Long.parseLong(matcher.group(1));
        String unit = matcher.group(2);
        try {
            return unit == null ? amount : Math.multiplyExact(amount, 1L << (10 * Sizes.UNITS.indexOf(unit)));
        } catch (ArithmeticException e) {
            throw new InvalidException("expected a size below 8388608TiB, not " + MessageText.quote(text));
        }
    }

    /** Returns a hint with the same size as a whole number, such as 1536KiB for 1.5MiB. Empty if no whole number fits. */
    private static String fractionHint(String text) {
        Matcher fraction = Pattern.compile("([0-9]{1,6}\\.[0-9]{1,9}) *([kKmMgGtT])[iI]?[bB]?")
                .matcher(text);
        if (!fraction.matches()) {
            return "";
        }
        int unit = Sizes.UNITS.indexOf(fraction.group(2).toUpperCase(Locale.ROOT) + "iB");
        BigDecimal bytes = new BigDecimal(fraction.group(1)).multiply(BigDecimal.valueOf(1L << (10 * unit)));
        boolean whole = bytes.stripTrailingZeros().scale() <= 0 && bytes.signum() > 0;
        return whole ? ": did you mean '" + Sizes.print(bytes.longValueExact()) + "'?" : "";
    }

    static Object printSize(long bytes) {
        return bytes == 0 || bytes % 1024 != 0 ? (Object) bytes : Sizes.print(bytes);
    }
}
