package dev.gateway.config.yaml.schema.listener;

import dev.gateway.config.value.StatusRange;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ScalarType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Statuses, one or several in a row. */
public final class StatusRanges {
    private static final Pattern FINAL = Pattern.compile("([2-5][0-9]{2})(-([2-5][0-9]{2}))?");
    private static final Pattern ERROR = Pattern.compile("([45][0-9]{2})(-([45][0-9]{2}))?");
    private static final Pattern ERROR_CLASS = Pattern.compile("[45]xx");

    /** Final statuses. */
    public static final ScalarType<StatusRange> ANY = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    schema(200, FINAL.pattern()),
                    new StatusRange(200, 200),
                    (text, site) ->
                            range(FINAL, text, "expected a status such as 200, or two with a dash such as 200-299"),
                    StatusRanges::print)
            .named("status range", "A status such as 200, or the first and the last of several, such as 200-299.");

    /** Statuses of errors. */
    static final ScalarType<StatusRange> ERRORS = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    schema(400, ERROR.pattern() + "|" + ERROR_CLASS.pattern()),
                    new StatusRange(400, 400),
                    (text, site) -> errors(text),
                    StatusRanges::print)
            .named(
                    "error status range",
                    "A status from 400 to 599, 4xx or 5xx for all of a class, or the first and the last of several, such "
                            + "as 500-504.");

    private StatusRanges() {}

    private static Map<String, Object> schema(int minimum, String pattern) {
        return Map.of(
                "anyOf",
                List.of(
                        Map.of("type", "integer", "minimum", minimum, "maximum", 599),
                        Map.of("type", "string", "pattern", "^(" + pattern + ")$")));
    }

    private static Object print(StatusRange range) {
        return range.first() == range.last() ? range.first() : range.toString();
    }

    private static StatusRange errors(String text) throws InvalidException {
        if (ERROR_CLASS.matcher(text).matches()) {
            int first = 100 * (text.charAt(0) - '0');
            return new StatusRange(first, first + 99);
        }
        String lower = text.toLowerCase(Locale.ROOT);
        if (ERROR_CLASS.matcher(lower).matches()) {
            throw new InvalidException("did you mean '" + lower + "'?");
        }
        return range(ERROR, text, "expected an error such as 404, 5xx for a class, or two with a dash such as 500-504");
    }

    private static StatusRange range(Pattern pattern, String text, String expected) throws InvalidException {
        Matcher statuses = pattern.matcher(text);
        if (!statuses.matches()) {
            throw new InvalidException(expected + ", not " + MessageText.quote(text));
        }
        int first = Integer.parseInt(statuses.group(1));
        int last = statuses.group(3) == null ? first : Integer.parseInt(statuses.group(3));
        if (last < first) {
            throw new InvalidException(
                    "the last status comes before the first: did you mean '" + last + "-" + first + "'?");
        }
        return new StatusRange(first, last);
    }
}
