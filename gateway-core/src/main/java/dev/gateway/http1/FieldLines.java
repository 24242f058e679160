package dev.gateway.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import org.jspecify.annotations.Nullable;

/** The one strict pass over field lines (RFC 9112, section 5), the same for requests, responses and trailers. */
final class FieldLines {
    private FieldLines() {}

    /**
     * Adds the fields that stand in the array from {@code position} to an empty line. Every LF in the array follows a
     * CR, and an empty line ends it, as {@link HeadCollector} makes sure; so no bound needs to be checked.
     *
     * @param fields the table over the same array
     * @return what is wrong, or null
     */
    static @Nullable Violation parse(byte[] bytes, int position, Fields fields, int maxFields) {
        int at = position;
        while (bytes[at] != '\r' || bytes[at + 1] != '\n') {
            int nameStart = at;
            byte b = bytes[at];
            while (Ascii.isToken(b)) {
                b = bytes[++at];
            }
            if (b != ':' || at == nameStart) {
                return isSpace(b)
                        ? at == nameStart ? Violation.OBS_FOLD : Violation.SPACE_BEFORE_COLON
                        : Violation.BAD_FIELD_NAME;
            }
            int nameLength = at - nameStart;
            b = bytes[++at];
            while (isSpace(b)) {
                b = bytes[++at];
            }
            int valueStart = at;
            at = Ascii.fieldValueEnd(bytes, at);
            if (bytes[at] != '\r' || bytes[at + 1] != '\n') {
                return Violation.BAD_FIELD_VALUE;
            }
            int valueEnd = at;
            while (valueEnd > valueStart && isSpace(bytes[valueEnd - 1])) {
                valueEnd--;
            }
            at += 2;
            if (fields.size() == maxFields) {
                return Violation.TOO_MANY_FIELDS;
            }
            int id = FieldName.idOf(bytes, nameStart, nameLength);
            fields.addParsed(nameStart, nameLength, id, valueStart, valueEnd - valueStart);
        }
        return null;
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b == '\t';
    }
}
