package dev.gateway.message;

import io.netty.util.AsciiString;

/** Reads the value of {@code Content-Length} (RFC 9110, section 8.6), for every protocol in the same way. */
public final class ContentLength {
    /** What {@link #parseSame} returns if lengths differ. */
    public static final long DIFFERENT = -2;

    private ContentLength() {}

    /**
     * Returns the one length that all fields of that name say, of which each may be a list (RFC 9110, section 8.6): -1 if
     * one of them is no length, {@link #DIFFERENT} if they are not the same.
     */
    public static long parseSame(Fields fields) {
        long same = -1;
        for (int i = fields.find(FieldName.CONTENT_LENGTH, 0);
                i >= 0;
                i = fields.find(FieldName.CONTENT_LENGTH, i + 1)) {
            for (String element : fields.value(i).toString().split(",", -1)) {
                long length = parse(new AsciiString(element.strip()));
                if (length < 0) {
                    return -1;
                }
                if (same >= 0 && length != same) {
                    return DIFFERENT;
                }
                same = length;
            }
        }
        return same;
    }

    /** Returns the number if the value is nothing but digits and fits a long, else -1. */
    public static long parse(AsciiString value) {
        return parse(value.array(), value.arrayOffset(), value.length());
    }

    /** Returns the number in the value at a position, or -1; makes no view. */
    public static long parse(Fields fields, int i) {
        return parse(fields.array(), fields.valueStart(i), fields.valueLength(i));
    }

    private static long parse(byte[] bytes, int start, int length) {
        int end = start + length;
        long number = length == 0 ? -1 : 0;
        for (int at = start; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }
}
