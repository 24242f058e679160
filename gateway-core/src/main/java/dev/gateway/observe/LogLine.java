package dev.gateway.observe;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A line of the access log while it is written: takes values of fields, and escapes them as its format has it. One per
 * event loop, for it keeps the text of the current second.
 */
abstract class LogLine {
    private static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter CLF = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss '+0000'", Locale.US);

    final LineBuffer buffer;
    final Redaction redaction;
    private final Names names = new Names();
    private Moment moment = Moment.CLOSE;
    private long second = -1;
    private String iso = "";
    private String clf = ""; // empty until it is asked for

    /** When a line is written. */
    enum Moment {
        /** A tunnel was opened. */
        OPEN,
        /** A tunnel goes on. */
        INTERIM,
        /** The exchange is over. */
        CLOSE
    }

    LogLine(LineBuffer buffer, Redaction redaction) {
        this.buffer = buffer;
        this.redaction = redaction;
    }

    /** Whether there are lines of that moment. */
    abstract boolean has(Moment moment);

    /** Adds one line with its end. */
    final void write(ExchangeRecord exchange, Moment at) {
        moment = at;
        write(exchange);
        buffer.put('\n');
    }

    abstract void write(ExchangeRecord exchange);

    final Moment moment() {
        return moment;
    }

    // ---- values

    /** Begins a value that the caller writes into the buffer, and that needs no escaping. */
    abstract void begin();

    /** Ends what {@link #begin} began. */
    abstract void end();

    /** The field has no value. */
    abstract void absent();

    abstract void number(long value);

    /** The value is what a peer sent. */
    abstract void bytes(AsciiString value);

    /** The value is any text. */
    abstract void characters(String value);

    /** The value is what the configuration has a name for. */
    abstract void name(Names.Name name);

    /** What is written by its {@code toString}, and most likely not for the first time. */
    final void name(@Nullable Object value) {
        Names.Name name = value == null ? null : names.of(value);
        if (name == null || name.text.isEmpty()) {
            absent();
        } else {
            name(name);
        }
    }

    /** Whether that text is what is written of a value. */
    final boolean isName(Object value, String text) {
        return names.of(value).text.equals(text);
    }

    final void text(@Nullable AsciiString value) {
        if (value == null || value.isEmpty()) {
            absent();
        } else {
            bytes(value);
        }
    }

    final void text(@Nullable String value) {
        if (value == null || value.isEmpty()) {
            absent();
        } else {
            characters(value);
        }
    }

    /** A word of ours. */
    final void word(String value) {
        begin();
        buffer.put(value);
        end();
    }

    /** A duration in microseconds, absent unless both moments came and in that order. */
    final void micros(long from, long to) {
        if (from != 0 && to != 0 && to - from >= 0) {
            number((to - from) / 1000);
        } else {
            absent();
        }
    }

    /** A value of a header, with the others that it may have. */
    final void header(@Nullable Fields fields, FieldName name) {
        int at = fields == null ? -1 : fields.find(name, 0);
        if (fields == null || at < 0) {
            absent();
        } else {
            AsciiString value = redaction.headerValue(name, fields.value(at));
            for (int i = fields.find(name, at + 1); i >= 0; i = fields.find(name, i + 1)) {
                value = new AsciiString(value + ", " + redaction.headerValue(name, fields.value(i)));
            }
            bytes(value);
        }
    }

    // ---- time

    /** Returns the time to the second. */
    final String iso(long millis) {
        turnTo(millis);
        return iso;
    }

    /** The same as Apache writes it. */
    final String clf(long millis) {
        turnTo(millis);
        if (clf.isEmpty()) {
            clf = format(CLF);
        }
        return clf;
    }

    private void turnTo(long millis) {
        long now = Math.floorDiv(millis, 1000L);
        if (now != second) {
            second = now;
            iso = format(ISO);
            clf = "";
        }
    }

    private String format(DateTimeFormatter formatter) {
        return formatter.format(LocalDateTime.ofInstant(Instant.ofEpochSecond(second), ZoneOffset.UTC));
    }
}
