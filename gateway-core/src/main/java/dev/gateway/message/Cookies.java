package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Cookies of a request (RFC 6265, section 4.2): finds one by its name, and takes one away from the others. */
public final class Cookies {
    private Cookies() {}

    /** Returns the value of the first cookie of that name, null if there is none. */
    public static @Nullable AsciiString value(Fields fields, AsciiString name) {
        return value(fields, name, 0);
    }

    /**
     * Returns the value of one of the cookies of that name, null if there are not so many.
     *
     * @param skipped how many come before it
     */
    public static @Nullable AsciiString value(Fields fields, AsciiString name, int skipped) {
        long range = NamedValue.ofCookie(fields, name, skipped);
        return range == NamedValue.NONE
                ? null
                : new AsciiString(fields.array(), NamedValue.start(range), NamedValue.length(range), false);
    }

    /** Removes each cookie of that name. Others stay as they are, in their order. */
    public static void remove(Fields fields, AsciiString name) {
        if (NamedValue.ofCookie(fields, name) == NamedValue.NONE) {
            return;
        }
        StringBuilder left = new StringBuilder();
        for (int i = fields.find(FieldName.COOKIE, 0); i >= 0; i = fields.find(FieldName.COOKIE, i + 1)) {
            AsciiString pairs = fields.value(i);
            for (int at = 0; at < pairs.length(); at = end(pairs, at) + 1) {
                int start = start(pairs, at);
                if (!isNamed(pairs, start, name) && start < end(pairs, at)) {
                    left.append(left.isEmpty() ? "" : "; ").append(pairs, start, end(pairs, at));
                }
            }
        }
        fields.remove(FieldName.COOKIE);
        if (!left.isEmpty()) {
            fields.add(FieldName.COOKIE, left);
        }
    }

    private static int start(AsciiString pairs, int from) {
        int start = from;
        while (start < pairs.length() && pairs.byteAt(start) == ' ') {
            start++;
        }
        return start;
    }

    private static int end(AsciiString pairs, int from) {
        int end = pairs.indexOf(';', from);
        return end < 0 ? pairs.length() : end;
    }

    private static boolean isNamed(AsciiString pairs, int start, AsciiString name) {
        int equals = start + name.length();
        return equals < pairs.length()
                && pairs.byteAt(equals) == '='
                && pairs.regionMatches(false, start, name, 0, name.length());
    }
}
