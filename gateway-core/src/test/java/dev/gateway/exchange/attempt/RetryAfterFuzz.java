package dev.gateway.exchange.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fuzz target: {@code Retry-After}, which is a number of seconds or a date. The wait is never negative, and never wraps. */
final class RetryAfterFuzz {
    private static final long NOW = 1_767_225_600_000L; // 2026
    private static final List<String> DAYS = List.of("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
    private static final List<String> MONTHS =
            List.of("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec");

    /** RFC 9110, section 5.6.7: the form in which dates are to be sent. */
    private static final Pattern DATE =
            Pattern.compile("(?<name>[A-Z][a-z]{2}), (?<day>[0-9]{2}) (?<month>[A-Z][a-z]{2}) (?<year>[0-9]{4})"
                    + " (?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2}) GMT");

    private RetryAfterFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        Fields fields = new Fields();
        fields.add(FieldName.RETRY_AFTER, new AsciiString(input));
        long millis = RetryAfter.millis(fields, NOW);
        assertThat(millis).isNotNegative();
        String text = new String(input, StandardCharsets.ISO_8859_1);
        if (text.matches("[0-9]+")) {
            BigInteger exact = new BigInteger(text).multiply(BigInteger.valueOf(1000));
            assertThat(millis == Long.MAX_VALUE || BigInteger.valueOf(millis).equals(exact))
                    .isTrue();
            assertThat(millis < Long.MAX_VALUE || text.length() > 9).isTrue();
            return;
        }
        Matcher date = DATE.matcher(text);
        if (date.matches()) {
            assertThat(millis).isEqualTo(Math.max(0, millis(date) - NOW));
        } else if (millis > 0) { // a form that is more lenient
            assertThat(text)
                    .matches(
                            "(?i)([a-z]{3}, *)?[0-9]{1,2} [a-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}(:[0-9]{2})? (GMT|[+-][0-9]{4})"
                                    + "|[a-z]{6,9}, [0-9]{2}-[a-z]{3}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
                                    + "|[a-z]{3} [a-z]{3} ( [0-9]|[0-9]{2}) [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}");
        }
    }

    /** Returns the moment of a date, one in the past if there is no such day. */
    private static long millis(Matcher date) {
        try {
            int hour = Integer.parseInt(date.group("hour"));
            boolean isEndOfDay = hour == 24
                    && date.group("minute").equals("00")
                    && date.group("second").equals("00");
            LocalDateTime moment = LocalDateTime.of(
                    Integer.parseInt(date.group("year")),
                    MONTHS.indexOf(date.group("month")) + 1,
                    Integer.parseInt(date.group("day")),
                    isEndOfDay ? 0 : hour,
                    Integer.parseInt(date.group("minute")),
                    Integer.parseInt(date.group("second")));
            boolean isItsDay = moment.getDayOfWeek().getValue() == DAYS.indexOf(date.group("name")) + 1;
            return isItsDay
                    ? moment.plusDays(isEndOfDay ? 1 : 0)
                            .toInstant(ZoneOffset.UTC)
                            .toEpochMilli()
                    : 0;
        } catch (DateTimeException e) {
            return 0;
        }
    }
}
