package dev.gateway.message;

import io.netty.util.AsciiString;

/** Finds the value of a cookie or a query parameter: where it stands in an array, as one number. Copies nothing. */
final class NamedValue {
    /** There is no such value. */
    static final long NONE = -1;

    private NamedValue() {}

    /** Finds the first cookie of that name, in the array of the fields. */
    static long ofCookie(Fields fields, AsciiString name) {
        return ofCookie(fields, name, 0);
    }

    /**
     * Finds one of the cookies of that name, in the array of the fields.
     *
     * @param skipped how many of them come before it
     */
    static long ofCookie(Fields fields, AsciiString name, int skipped) {
        int left = skipped;
        for (int i = fields.find(FieldName.COOKIE, 0); i >= 0; i = fields.find(FieldName.COOKIE, i + 1)) {
            int limit = fields.valueStart(i) + fields.valueLength(i);
            long range = ofPair(fields.array(), fields.valueStart(i), limit, name, (byte) ';');
            for (; range != NONE; range = ofPair(fields.array(), end(range), limit, name, (byte) ';')) {
                if (left-- == 0) {
                    return range;
                }
            }
        }
        return NONE;
    }

    /** Finds the first query parameter of that name, in the array of the path. */
    static long ofQueryParameter(RequestHead head, AsciiString name) {
        AsciiString path = head.path();
        int start = Math.min(head.queryStart() + 1, path.length());
        int offset = path.arrayOffset();
        return ofPair(path.array(), offset + start, offset + path.length(), name, (byte) '&');
    }

    /** Returns where a value starts. */
    static int start(long range) {
        return (int) (range >>> 32);
    }

    /** Returns how many bytes a value has. */
    static int length(long range) {
        return (int) range;
    }

    private static int end(long range) {
        return start(range) + length(range) + 1; // with the separator
    }

    private static long ofPair(byte[] bytes, int start, int limit, AsciiString name, byte separator) {
        for (int at = start; at < limit; at++) {
            while (at < limit && bytes[at] == ' ') {
                at++;
            }
            int end = at;
            while (end < limit && bytes[end] != separator) {
                end++;
            }
            int value = at + name.length();
            if (value < end && bytes[value] == '=' && starts(bytes, at, name)) {
                return (long) (value + 1) << 32 | (end - value - 1);
            }
            at = end;
        }
        return NONE;
    }

    private static boolean starts(byte[] bytes, int start, AsciiString name) {
        for (int i = 0; i < name.length(); i++) {
            if (bytes[start + i] != name.byteAt(i)) {
                return false;
            }
        }
        return true;
    }
}
