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

    /**
     * Removes each cookie of that name. Others stay as they are, in their order. A line keeps its place, and takes no more
     * memory than before.
     */
    public static void remove(Fields fields, AsciiString name) {
        int i = fields.find(FieldName.COOKIE, 0);
        while (i >= 0) {
            if (removeFrom(fields, i, name) && isEmpty(fields.value(i))) {
                fields.removeAt(i);
                i = fields.find(FieldName.COOKIE, i);
            } else {
                i = fields.find(FieldName.COOKIE, i + 1);
            }
        }
    }

    /** Removes the pairs of that name from a line, in one pass: a line of strangers may have thousands of them. */
    private static boolean removeFrom(Fields fields, int i, AsciiString name) {
        AsciiString pairs = fields.value(i);
        int to = 0; // the end of what stays
        int kept = 0; // the end of the last pair that stays, with its separator
        int at = 0;
        while (at < pairs.length()) {
            int start = start(pairs, at);
            int end = end(pairs, start);
            boolean last = end == pairs.length();
            if (isNamed(pairs, start, name)) {
                // With the separator behind it and the spaces after that, or if it is the last one, with those before
                // it.
                to = last ? Math.max(0, kept - 1) : move(pairs, at, start, to);
                at = last ? end : to == 0 ? visible(pairs, end + 1) : start(pairs, end + 1);
            } else {
                int next = last ? end : end + 1;
                to = move(pairs, at, next, to);
                kept = to;
                at = next;
            }
        }
        if (to == pairs.length()) {
            return false;
        }
        while (to > 0 && Ascii.isSpace(pairs.byteAt(to - 1))) {
            to--; // HTTP/2 has no values that end so (RFC 9113, section 8.2.1)
        }
        fields.shorten(i, to);
        return true;
    }

    /** Moves bytes of a value towards its start; returns where they end. */
    private static int move(AsciiString pairs, int from, int end, int to) {
        if (to < from) {
            int offset = pairs.arrayOffset();
            System.arraycopy(pairs.array(), offset + from, pairs.array(), offset + to, end - from);
        }
        return to + end - from;
    }

    private static boolean isEmpty(AsciiString pairs) {
        for (int i = 0; i < pairs.length(); i++) {
            if (pairs.byteAt(i) != ';' && pairs.byteAt(i) != ' ') {
                return false;
            }
        }
        return true;
    }

    /** Returns where the first byte is that is no white space: no value of HTTP/2 begins with any. */
    private static int visible(AsciiString pairs, int from) {
        int at = from;
        while (at < pairs.length() && Ascii.isSpace(pairs.byteAt(at))) {
            at++;
        }
        return at;
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
