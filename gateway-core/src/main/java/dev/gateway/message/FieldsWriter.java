package dev.gateway.message;

import static dev.gateway.message.Fields.NAME;
import static dev.gateway.message.Fields.NAME_START;
import static dev.gateway.message.Fields.STRIDE;
import static dev.gateway.message.Fields.VALUE_LENGTH;
import static dev.gateway.message.Fields.VALUE_START;

import io.netty.buffer.ByteBuf;

/** Writes a table of fields as HTTP/1.1 lines. Lines that still stand side by side in canonical form go out in one copy. */
final class FieldsWriter {
    private FieldsWriter() {}

    /**
     * Writes the fields, without the empty line that ends a head.
     *
     * @param bytes where names and values stand
     * @param end of what is in use of them
     * @param index a slot for each field
     * @param size how many fields there are
     */
    static void write(byte[] bytes, int end, int[] index, int size, ByteBuf out) {
        int runStart = 0;
        int runEnd = 0;
        for (int slot = 0, limit = size * STRIDE; slot < limit; slot += STRIDE) {
            int nameStart = index[slot + NAME_START];
            int nameLength = index[slot + NAME] >>> 8;
            int valueStart = index[slot + VALUE_START];
            int valueLength = index[slot + VALUE_LENGTH];
            int valueEnd = valueStart + valueLength;
            if (valueStart == nameStart + nameLength + 2 && isCanonical(bytes, end, valueStart, valueEnd)) {
                if (nameStart != runEnd) {
                    out.writeBytes(bytes, runStart, runEnd - runStart);
                    runStart = nameStart;
                }
                runEnd = valueEnd + 2;
            } else {
                out.writeBytes(bytes, runStart, runEnd - runStart);
                out.writeBytes(bytes, nameStart, nameLength);
                out.writeShort(':' << 8 | ' ');
                out.writeBytes(bytes, valueStart, valueLength);
                out.writeShort('\r' << 8 | '\n');
                runStart = runEnd = 0;
            }
        }
        out.writeBytes(bytes, runStart, runEnd - runStart);
    }

    private static boolean isCanonical(byte[] bytes, int end, int valueStart, int valueEnd) {
        return valueEnd + 2 <= end
                && bytes[valueStart - 1] == ' '
                && bytes[valueEnd] == '\r'
                && bytes[valueEnd + 1] == '\n';
    }
}
