package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import org.jspecify.annotations.Nullable;

/** The one pass over field lines (RFC 9112, section 5), the same for requests, responses and trailers. */
final class FieldLines {
    private FieldLines() {}

    /**
     * Adds the fields that stand in the array from {@code position} to an empty line. Every LF in the array follows a
     * CR, and an empty line ends it, as {@link HeadCollector} makes sure; so no bound needs to be checked.
     *
     * @param fields the table over the same array
     * @param strict whether what a proxy may also mend is refused: a line that continues the one before, and control bytes
     * @return what is wrong, or null
     */
    static @Nullable Http1Violation parse(byte[] bytes, int position, Fields fields, int maxFields, boolean strict) {
        int at = position;
        while (bytes[at] != '\r' || bytes[at + 1] != '\n') {
            int nameStart = at;
            byte b = bytes[at];
            while (Ascii.isToken(b)) {
                b = bytes[++at];
            }
            if (b != ':' || at == nameStart) {
                return Ascii.isSpace(b)
                        ? at == nameStart ? Http1Violation.OBS_FOLD : Http1Violation.SPACE_BEFORE_COLON
                        : Http1Violation.BAD_FIELD_NAME;
            }
            int nameLength = at - nameStart;
            b = bytes[++at];
            while (Ascii.isSpace(b)) {
                b = bytes[++at];
            }
            int valueStart = at;
            int plainEnd = Ascii.fieldValueEnd(bytes, at);
            at = strict ? plainEnd : mendedEnd(bytes, plainEnd);
            boolean mended = at != plainEnd;
            if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
                return Http1Violation.BAD_FIELD_VALUE;
            }
            if (!strict && Ascii.isSpace(bytes[at + 2])) {
                at = unfold(bytes, at);
                if (at < 0) {
                    return Http1Violation.BAD_FIELD_VALUE;
                }
            }
            while (valueStart < at && Ascii.isSpace(bytes[valueStart])) { // what was mended may begin so
                valueStart++;
            }
            int valueEnd = at;
            while (valueEnd > valueStart && Ascii.isSpace(bytes[valueEnd - 1])) {
                valueEnd--;
            }
            at += 2;
            if (fields.size() == maxFields) {
                return Http1Violation.TOO_MANY_FIELDS;
            }
            int id = FieldName.idOf(bytes, nameStart, nameLength);
            if (mended && (id == FieldName.TRANSFER_ENCODING.id() || id == FieldName.CONTENT_LENGTH.id())) {
                return Http1Violation.BAD_FIELD_VALUE; // others would find the end of the body elsewhere
            }
            fields.addParsed(nameStart, nameLength, id, valueStart, valueEnd - valueStart);
        }
        return null;
    }

    /**
     * Replaces control bytes of a value by spaces (RFC 9110, section 5.5), also a CR before the end of the line. Other proxies
     * pass them on; but none NUL or a CR within a line.
     *
     * @param end where the first byte stands that does not belong to a value
     * @return where such a byte stands that is left
     */
    private static int mendedEnd(byte[] bytes, int end) {
        int at = end;
        while (bytes[at] == '\r' ? bytes[at + 1] == '\r' && bytes[at + 2] == '\n' : bytes[at] != 0) {
            bytes[at] = ' ';
            at = Ascii.fieldValueEnd(bytes, at + 1);
        }
        return at;
    }

    /**
     * Replaces each line end within a value by spaces, as a proxy must that does not refuse it (RFC 9112, section 5.2).
     *
     * @param lineEnd where the first of them stands
     * @return where the value's last line ends, or -1 if it has a control byte
     */
    private static int unfold(byte[] bytes, int lineEnd) {
        int at = lineEnd;
        while (Ascii.isSpace(bytes[at + 2])) {
            bytes[at] = ' ';
            bytes[at + 1] = ' ';
            at = Ascii.fieldValueEnd(bytes, at + 2);
            if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
                return -1;
            }
        }
        return at;
    }
}
