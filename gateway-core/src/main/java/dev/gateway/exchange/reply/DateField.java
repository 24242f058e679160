package dev.gateway.exchange.reply;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The {@code Date} of responses that have none: of the gateway's own, and of those that an upstream without a clock sends
 * (RFC 9110, section 6.6.1). Its text is made once a second. Confined to one event loop.
 */
public final class DateField {
    /** Has its own names of days and months: those of the JDK load its locale data, which takes 30 ms. */
    private static final DateTimeFormatter HTTP_DATE = new DateTimeFormatterBuilder()
            .appendText(ChronoField.DAY_OF_WEEK, names("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
            .appendPattern(", dd ")
            .appendText(
                    ChronoField.MONTH_OF_YEAR,
                    names("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
            .appendPattern(" yyyy HH:mm:ss 'GMT'")
            .toFormatter(Locale.ROOT);

    private final LongSupplier wallClock;
    private AsciiString text = AsciiString.EMPTY_STRING;
    private long second = -1;

    /**
     * Makes the field.
     *
     * @param wallClock returns milliseconds since 1970
     */
    public DateField(LongSupplier wallClock) {
        this.wallClock = wallClock;
    }

    /** Adds the date, unless the fields have one. */
    public void addTo(Fields fields) {
        if (!fields.contains(FieldName.DATE)) {
            fields.add(FieldName.DATE, now());
        }
    }

    private AsciiString now() {
        long current = wallClock.getAsLong() / 1000;
        if (current != second) {
            second = current;
            text = text(current);
        }
        return text;
    }

    /** Returns a time in the format of HTTP (RFC 9110, section 5.6.7). */
    static AsciiString text(long epochSecond) {
        return new AsciiString(
                HTTP_DATE.format(Instant.ofEpochSecond(epochSecond).atOffset(ZoneOffset.UTC)));
    }

    private static Map<Long, String> names(String... names) {
        Map<Long, String> numbered = new HashMap<>();
        for (String name : names) {
            numbered.put(numbered.size() + 1L, name);
        }
        return numbered;
    }
}
