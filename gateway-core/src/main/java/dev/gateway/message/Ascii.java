package dev.gateway.message;

import io.netty.util.AsciiString;

/** Character classes of RFC 9110 (section 5.6) and comparisons of bytes without making strings. */
public final class Ascii {
    private static final boolean[] TOKEN = new boolean[128];

    static {
        for (char c = '0'; c <= '9'; c++) {
            TOKEN[c] = true;
        }
        for (char c = 'a'; c <= 'z'; c++) {
            TOKEN[c] = true;
            TOKEN[c - 32] = true;
        }
        for (char c : "!#$%&'*+-.^_`|~".toCharArray()) {
            TOKEN[c] = true;
        }
    }

    private Ascii() {}

    /** Whether the byte may stand in a token (RFC 9110, section 5.6.2). */
    public static boolean isToken(byte b) {
        return b >= 0 && TOKEN[b];
    }

    /** Whether the byte may stand in a field value: VCHAR, SP, HTAB or obs-text (RFC 9110, section 5.5). */
    public static boolean isFieldValue(byte b) {
        return b >= ' ' ? b != 0x7f : b < 0 || b == '\t';
    }

    /** Returns the byte in lower case if it is an ASCII letter. */
    public static byte lower(byte b) {
        return b >= 'A' && b <= 'Z' ? (byte) (b + 32) : b;
    }

    /** Whether the bytes, whatever their case, are those of {@code lower}, which is in lower case. */
    public static boolean equalsLower(byte[] bytes, int start, int length, AsciiString lower) {
        if (length != lower.length()) {
            return false;
        }
        byte[] other = lower.array();
        int offset = lower.arrayOffset();
        for (int i = 0; i < length; i++) {
            if (lower(bytes[start + i]) != other[offset + i]) {
                return false;
            }
        }
        return true;
    }
}
