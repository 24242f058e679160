package dev.gateway.observe.trace;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/** Ids as hexadecimal digits. */
final class Hex {
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Hex() {}

    /** Whether all of some characters are digits, those above nine in lower case. */
    static boolean isLower(AsciiString text, int start, int count) {
        for (int i = start; i < start + count; i++) {
            byte b = text.byteAt(i);
            if ((b < '0' || b > '9') && (b < 'a' || b > 'f')) {
                return false;
            }
        }
        return true;
    }

    /** Returns the number that up to 16 digits stand for, which {@link #isLower} has checked. */
    static long parse(AsciiString text, int start, int count) {
        long number = 0;
        for (int i = start; i < start + count; i++) {
            number = number << 4 | Character.digit(text.byteAt(i), 16);
        }
        return number;
    }

    /** Writes a number as 16 digits, and returns where they end. */
    static int write(long number, byte[] to, int start) {
        for (int i = 0; i < 16; i++) {
            to[start + i] = DIGITS[(int) (number >>> (60 - 4 * i)) & 0xf];
        }
        return start + 16;
    }
}
