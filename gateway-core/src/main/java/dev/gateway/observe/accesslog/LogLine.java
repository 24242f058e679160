package dev.gateway.observe.accesslog;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.Names;
import io.netty.util.AsciiString;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A line of the access log while it is written: takes values of fields, and escapes them as its format has it. One per
 * event loop, for it keeps the text of the current second.
 */
abstract class LogLine {
    private static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter CLF = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss '+0000'", Locale.US);

    /** Bytes of a header's values in a line. By HTTP/2 a client repeats a long one at the price of a byte each. */
    private static final int MAX_HEADER = 1024;

    /** What {@link #header} returns for an empty one. Other fields are absent if they are empty. */
    private static final AsciiString EMPTY_HEADER = new AsciiString("");

    private static final AsciiString SEPARATOR = new AsciiString(", ");
    private static final AsciiString CUT = new AsciiString("...");

    final LineBuffer buffer;
    final Redaction redaction;
    final Names names = new Names();
    Moment moment = Moment.CLOSE; // of the line that is being written
    private long second = -1;
    private String iso = "";
    private String clf = ""; // empty until its first use

    /** When a line is written. */
    enum Moment {
        /** A tunnel was opened. */
        OPEN,
        /** A tunnel continues. */
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

    /** Adds a line with its end. */
    abstract void write(ExchangeRecord exchange, Moment at);

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

    /** The value is the attempts but the last one; not empty. */
    abstract void tried(List<ExchangeRecord.Tried> attempts);

    /** The value is what the configuration has a name for. */
    abstract void name(Names.Name name);

    /** Whether there is nothing to write: an empty text that is no header. */
    @SuppressWarnings("ReferenceEquality") // that of an empty header is one object
    static boolean isAbsent(AsciiString value) {
        return value.isEmpty() && value != EMPTY_HEADER;
    }

    /** Writes what a {@link LogField.Value} has returned. */
    final void putValue(@Nullable Object value) {
        if (value instanceof AsciiString bytes && !isAbsent(bytes)) {
            bytes(bytes);
        } else if (value instanceof Names.Name name && !name.text.isEmpty()) {
            name(name);
        } else if (value instanceof String text && !text.isEmpty()) {
            characters(text);
        } else {
            absent();
        }
    }

    /** Writes a word of ours, which needs no escaping. */
    final boolean word(String value) {
        begin();
        buffer.put(value);
        end();
        return true;
    }

    /** Returns the attempts as one text. */
    static String text(List<ExchangeRecord.Tried> attempts) {
        StringBuilder text = new StringBuilder();
        for (ExchangeRecord.Tried each : attempts) {
            text.append(text.isEmpty() ? "" : ",").append(each.endpoint()).append('=');
            text.append(
                    each.cause() != null
                            ? each.cause().label()
                            : each.status() == 0 ? "-" : Integer.toString(each.status()));
        }
        return text.toString();
    }

    /** Returns a header of a request; HTTP/2 has another name for {@code Host}. */
    final @Nullable AsciiString requestHeader(ExchangeRecord exchange, FieldName name) {
        Fields fields = exchange.fields;
        return name.equals(FieldName.HOST) && (fields == null || !fields.contains(name))
                ? redaction.headerValue(name, exchange.authority)
                : header(fields, name);
    }

    /** Returns the value of a header, with the others that it may have; null if it is missing. */
    final @Nullable AsciiString header(@Nullable Fields fields, FieldName name) {
        int at = fields == null ? -1 : fields.find(name, 0);
        if (fields == null || at < 0) {
            return null;
        }
        AsciiString value = redaction.headerValue(name, fields.value(at));
        int next = fields.find(name, at + 1);
        if (next >= 0 || value.length() > MAX_HEADER) {
            value = join(fields, name, value, next);
        }
        return value.isEmpty() ? EMPTY_HEADER : value;
    }

    /** Joins the values of a header that came more than once, and cuts what is too long to be of use in a log. */
    private AsciiString join(Fields fields, FieldName name, AsciiString first, int second) {
        byte[] joined = new byte[MAX_HEADER + CUT.length()];
        int length = append(first, joined, 0);
        boolean cut = length < first.length();
        for (int i = second; i >= 0 && !cut; i = fields.find(name, i + 1)) {
            AsciiString value = redaction.headerValue(name, fields.value(i));
            int separated = append(SEPARATOR, joined, length);
            length = append(value, joined, separated);
            cut = length - separated < value.length();
        }
        if (cut) {
            System.arraycopy(CUT.array(), CUT.arrayOffset(), joined, length, CUT.length());
            length += CUT.length();
        }
        return new AsciiString(joined, 0, length, false);
    }

    /** Appends as much as there is room for, and returns where that ends. */
    private static int append(AsciiString value, byte[] to, int at) {
        int length = Math.min(value.length(), MAX_HEADER - at);
        System.arraycopy(value.array(), value.arrayOffset(), to, at, length);
        return at + length;
    }

    // ---- time

    /** Writes a time to the millisecond. */
    final void putTime(long millis) {
        turnTo(millis);
        buffer.put(iso)
                .put('.')
                .putPadded((int) Math.floorMod(millis, 1000L), 3)
                .put('Z');
    }

    /** Returns the time to the second, as Apache writes it. */
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
