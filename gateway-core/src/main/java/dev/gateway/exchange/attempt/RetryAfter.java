package dev.gateway.exchange.attempt;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The Retry-After field (RFC 9110, section 10.2.3): how long a client should wait before it sends the request again. */
public final class RetryAfter {
    private static final int MAX_DIGITS = 9;
    private static final long MILLIS = 1000;

    /** Two digits of a year are of this century. */
    private static final DateTimeFormatter RFC_850 = DateTimeFormatter.ofPattern(
                    "EEEE, dd-MMM-uu HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private static final DateTimeFormatter ASCTIME = DateTimeFormatter.ofPattern(
                    "EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private RetryAfter() {}

    /**
     * Returns milliseconds from now, {@link Long#MAX_VALUE} for decades; 0 if the field is missing, invalid or in the past.
     *
     * @param nowMillis the time of day, for comparison with a date
     */
    public static long millis(Fields fields, long nowMillis) {
        AsciiString value = fields.first(FieldName.RETRY_AFTER);
        if (value == null || value.isEmpty()) {
            return 0;
        }
        if (!isNumber(value)) {
            return Math.max(0, date(value) - nowMillis);
        }
        return value.length() <= MAX_DIGITS ? value.parseLong() * MILLIS : Long.MAX_VALUE;
    }

    private static boolean isNumber(AsciiString value) {
        boolean digits = true;
        for (int i = 0; digits && i < value.length(); i++) {
            digits = value.charAt(i) >= '0' && value.charAt(i) <= '9';
        }
        return digits;
    }

    /** Reads the three forms of a date (RFC 9110, section 5.6.7). */
    private static long date(AsciiString value) {
        int comma = value.indexOf(',', 0);
        DateTimeFormatter form = comma < 0 ? ASCTIME : comma > 3 ? RFC_850 : DateTimeFormatter.RFC_1123_DATE_TIME;
        try {
            return Instant.from(form.parse(value)).toEpochMilli();
        } catch (DateTimeException e) {
            return 0;
        }
    }
}
