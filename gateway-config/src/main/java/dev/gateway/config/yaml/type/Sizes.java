package dev.gateway.config.yaml.type;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes in bytes: a number, with a binary unit. */
final class Sizes {
    static final String PATTERN = "[0-9]{1,15}(B|KiB|MiB|GiB|TiB)?";

    private static final Pattern WHOLE = Pattern.compile("([0-9]{1,15})(B|KiB|MiB|GiB|TiB)?");
    private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB", "TiB");

    private Sizes() {}

    static long parse(String text) throws InvalidException {
        Matcher matcher = WHOLE.matcher(text);
        if (!matcher.matches()) {
            Matcher foreign =
                    Pattern.compile("([0-9]{1,15}) *([kKmMgGtT])[iI]?[bB]?").matcher(text);
            String hint = foreign.matches()
                    ? ": did you mean '" + foreign.group(1) + foreign.group(2).toUpperCase(Locale.ROOT) + "iB'?"
                    : "";
            throw new InvalidException("expected a size such as 64KiB or 10MiB, not " + Types.quote(text) + hint);
        }
        long amount = Long.parseLong(matcher.group(1));
        String unit = matcher.group(2);
        try {
            return unit == null ? amount : Math.multiplyExact(amount, 1L << (10 * UNITS.indexOf(unit)));
        } catch (ArithmeticException e) {
            throw new InvalidException("expected a size below 8388608TiB, not " + Types.quote(text));
        }
    }

    static Object print(long bytes) {
        int unit = 0;
        long amount = bytes;
        while (amount > 0 && amount % 1024 == 0 && unit < UNITS.size() - 1) {
            amount /= 1024;
            unit++;
        }
        return unit == 0 ? (Object) bytes : amount + UNITS.get(unit);
    }
}
