package dev.gateway.config.yaml.type;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a configuration writes shares: a number with a percent sign. The former forms, a number from 0 to 1 and a percentage
 * without its sign, still work with a warning.
 */
final class Shares {
    static final String SHARE_PATTERN = "(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)%";

    private static final String PERCENTAGE = "[0-9]{1,5}%";
    private static final String FORMER_SHARE = "0(\\.[0-9]{1,6})?|1(\\.0{1,6})?";
    private static final Pattern FOREIGN = Pattern.compile("(?i)([0-9.]{1,8})\\s*(%|percent|pct|per cent)");
    private static final String NUMBER = "[0-9]{1,5}(\\.[0-9]{1,6})?";

    private Shares() {}

    static double share(String text, ScalarType.Site site) throws InvalidException {
        if (text.matches(SHARE_PATTERN)) {
            return new BigDecimal(text.substring(0, text.length() - 1))
                    .movePointLeft(2)
                    .doubleValue();
        }
        if (text.matches(FORMER_SHARE)) {
            double share = Double.parseDouble(text);
            warn(share != 0, print(share), site);
            return share;
        }
        throw new InvalidException(
                "expected a share from 0% to 100% such as 5%, not " + MessageText.quote(text) + shareHint(text));
    }

    static int percentage(String text, int minimum, int maximum, ScalarType.Site site) throws InvalidException {
        boolean signed = text.matches(PERCENTAGE);
        if (signed || text.matches("[0-9]{1,5}")) {
            int value = Integer.parseInt(signed ? text.substring(0, text.length() - 1) : text);
            if (value >= minimum && value <= maximum) {
                warn(!signed && value != 0, value + "%", site);
                return value;
            }
        }
        throw new InvalidException("expected a percentage from " + minimum + "% to " + maximum + "%, not "
                + MessageText.quote(text)
                + hint(text, minimum, maximum));
    }

    private static String shareHint(String text) {
        String number = text.matches("[1-9][0-9]?(\\.[0-9]{1,4})?|100") ? text : number(text);
        return number != null && (number + "%").matches(SHARE_PATTERN) ? ": write " + number + "%" : "";
    }

    /** Returns the number of a percentage that is written in another way, as "20 %" or "20 percent"; null for other texts. */
    private static @Nullable String number(String text) {
        Matcher matcher = FOREIGN.matcher(text);
        return matcher.matches() && !text.equals(matcher.group(1) + "%") ? matcher.group(1) : null;
    }

    /** Returns a hint for a number that is no percentage, empty if it does not stand for one. */
    private static String hint(String text, int minimum, int maximum) {
        String percentage = number(text);
        if (percentage != null) {
            int value = percentage.matches("[0-9]{1,5}") ? Integer.parseInt(percentage) : -1;
            return value >= minimum && value <= maximum ? ": write " + value + "%" : "";
        }
        if (!text.contains(".") || !text.matches(NUMBER)) {
            return "";
        }
        double number = Double.parseDouble(text);
        String shown = print(text.matches("[0-9]+\\.0+") ? number / 100 : number);
        return shown.matches(PERCENTAGE) && Integer.parseInt(shown.replace("%", "")) <= maximum
                ? ": write " + shown
                : "";
    }

    /** Returns what a percentage looks like. */
    static String pattern(int maximum) {
        return maximum == 100 ? "(100|[0-9]{1,2})%" : PERCENTAGE;
    }

    private static void warn(boolean former, String right, ScalarType.Site site) {
        if (former) {
            site.scope()
                    .problems
                    .warning(site.position(), site.label() + ": a share has a percent sign: write " + right);
        }
    }

    static String print(double share) {
        return new BigDecimal(Double.toString(share))
                        .movePointRight(2)
                        .stripTrailingZeros()
                        .toPlainString()
                + "%";
    }
}
