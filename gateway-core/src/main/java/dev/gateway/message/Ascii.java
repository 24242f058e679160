package dev.gateway.message;

import io.netty.util.AsciiString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** ASCII utilities: character classes of RFC 9110 (section 5.6) and comparisons of bytes without making strings. */
public final class Ascii {
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L; // times a byte, it is that byte eight times
    private static final long TOPS = ONES << 7;

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

    /** Whether the byte is white space within a line: a space or a tab (RFC 9110, section 5.6.3). */
    public static boolean isSpace(byte b) {
        return b == ' ' || b == '\t';
    }

    /** Whether the byte may stand in a token (RFC 9110, section 5.6.2). */
    public static boolean isToken(byte b) {
        return b >= 0 && TOKEN[b];
    }

    /** Whether the text is a token: not empty, and of such bytes only. */
    public static boolean isToken(AsciiString text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isToken(text.byteAt(i))) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** Whether the byte may stand in a field value: VCHAR, SP, HTAB or obs-text (RFC 9110, section 5.5). */
    public static boolean isFieldValue(byte b) {
        return b >= ' ' ? b != 0x7f : b < 0 || b == '\t';
    }

    /**
     * Returns where the first byte stands that must not be in a field value. Looks at eight at once: values are most of
     * what a head consists of.
     *
     * @throws IndexOutOfBoundsException if there is none
     */
    public static int fieldValueEnd(byte[] bytes, int start) {
        int at = start;
        while (at <= bytes.length - Long.BYTES) {
            long word = (long) WORDS.get(bytes, at);
            long rest = word ^ (ONES * 0x7f);
            long belowSpace = (word - ONES * ' ') & ~word;
            long delete = (rest - ONES) & ~rest;
            long found = (belowSpace | delete) & TOPS; // right up to the first byte whose top bit is set
            if (found == 0) {
                at += Long.BYTES;
                continue;
            }
            at += Long.numberOfTrailingZeros(found) / Byte.SIZE;
            if (bytes[at] != '\t') {
                return at;
            }
            at++;
        }
        while (isFieldValue(bytes[at])) {
            at++;
        }
        return at;
    }

    /**
     * Whether a token has other characters than letters, digits and hyphens, or begins with another than a letter. Looks at
     * eight at once: this is asked of every name that the gateway does not know.
     */
    static boolean isOddToken(byte[] bytes, int start, int length) {
        if (length > 0 && !isLetter(bytes[start])) {
            return true;
        }
        int at = start;
        int end = start + length;
        for (; at < end && at <= bytes.length - Long.BYTES; at += Long.BYTES) {
            long odd = oddBytes((long) WORDS.get(bytes, at));
            int left = end - at;
            if ((left >= Long.BYTES ? odd : odd & ((1L << (left * Byte.SIZE)) - 1)) != 0) {
                return true;
            }
        }
        for (; at < end; at++) {
            if (isOdd(bytes[at])) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLetter(byte b) {
        int folded = (b | 0x20) - 'a';
        return folded >= 0 && folded < 26;
    }

    /** Whether a character of a token is neither a letter nor a digit nor a hyphen. */
    static boolean isOdd(byte b) {
        return (oddBytes(b) & 0x80) != 0;
    }

    /** Returns a word that has the top bits of the odd ones among eight characters of a token. */
    private static long oddBytes(long word) {
        long folded = word | ONES * 0x20; // letters are 61 to 7a now, digits 30 to 39, the hyphen is 2d
        long high = folded + ONES * 0x05; // from 7b on: ^ _ | ~
        long notBacktick = (folded ^ (ONES * 0x60)) + ONES * 0x7f;
        long digitOrLetter = (folded << 1) | (folded << 3);
        long notHyphen = (folded ^ (ONES * 0x2d)) + ONES * 0x7f;
        return (high | ~notBacktick | (~digitOrLetter & notHyphen)) & TOPS;
    }

    /**
     * Returns the text without white space at its ends. {@link AsciiString#trim} would also take bytes above 127 for white
     * space.
     */
    public static AsciiString trim(AsciiString text) {
        int start = 0;
        int end = text.length();
        while (start < end && isSpace(text.byteAt(start))) {
            start++;
        }
        while (end > start && isSpace(text.byteAt(end - 1))) {
            end--;
        }
        return text.subSequence(start, end, false);
    }

    /** Returns the byte in lower case if it is an ASCII letter. */
    public static byte lower(byte b) {
        return b >= 'A' && b <= 'Z' ? (byte) (b + 32) : b;
    }

    /** Returns how many digits a number has that is not negative. */
    public static int digits(long number) {
        int digits = 1;
        for (long rest = number; rest >= 10; rest /= 10) {
            digits++;
        }
        return digits;
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
