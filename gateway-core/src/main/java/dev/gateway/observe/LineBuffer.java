package dev.gateway.observe;

import io.netty.util.AsciiString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;

/** Log line buffer: builds log lines as bytes; reused by its event loop, so it allocates only while it grows. */
public final class LineBuffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    /** What is escaped of a value between quotes; not to be changed. */
    public static final BitSet QUOTED = BitSet.valueOf(new long[] {1L << '"', 1L << ('\\' - 64)});

    private static final boolean[] PLAIN = new boolean[256]; // in a JSON string

    // Eight bytes at a time
    private static final VarHandle EIGHT = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = ONES << 7;
    private static final long SPACES = ONES * ' ';
    private static final long QUOTES = ONES * '"';
    private static final long BACKSLASHES = ONES * '\\';

    static {
        Arrays.fill(PLAIN, ' ', 0x7f, true);
        PLAIN['"'] = false;
        PLAIN['\\'] = false;
    }

    private byte[] bytes = new byte[256];
    private int length;

    /** Returns how many bytes the line has. */
    public int length() {
        return length;
    }

    /** Begins a new line. */
    public void clear() {
        length = 0;
    }

    /** Takes back what was added since the line had that length. */
    public void cut(int to) {
        length = to;
    }

    /** Returns a copy of the line. */
    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, length);
    }

    /** Gives its array away, and continues empty with another. */
    public byte[] exchange(byte[] other) {
        byte[] given = bytes;
        bytes = other;
        length = 0;
        return given;
    }

    /** Returns what it has as text, if that is ASCII. */
    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            grow(more);
        }
    }

    private void grow(int more) {
        bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
    }

    /** Puts a byte in the place of one that it has. */
    public void replace(int index, char c) {
        bytes[index] = (byte) c;
    }

    /** Adds a byte as it is. */
    public LineBuffer put(char c) {
        ensure(1);
        bytes[length++] = (byte) c;
        return this;
    }

    /** Adds text of our own that needs no escaping. */
    @SuppressWarnings("deprecation") // for dropping what ASCII does not have; nothing else copies bytes as they are
    public LineBuffer put(String text) {
        int n = text.length();
        ensure(n);
        text.getBytes(0, n, bytes, length);
        length += n;
        return this;
    }

    /** Appends a number in decimal. */
    public LineBuffer put(long number) {
        if (number < 0) {
            put('-');
            number = -number;
        }
        int digits = 1;
        for (long limit = 10; digits < 19 && number >= limit; limit *= 10) {
            digits++;
        }
        ensure(digits);
        for (int i = length + digits - 1; i >= length; i--) {
            bytes[i] = (byte) ('0' + number % 10);
            number /= 10;
        }
        length += digits;
        return this;
    }

    /** Adds a number as 16 hexadecimal digits. */
    public LineBuffer putHex(long number) {
        ensure(16);
        for (int shift = 60; shift >= 0; shift -= 4) {
            bytes[length++] = HEX[(int) (number >>> shift) & 0xf];
        }
        return this;
    }

    /** Adds the low digits of a number, with leading zeros. */
    public LineBuffer putPadded(int number, int digits) {
        ensure(digits);
        for (int i = length + digits - 1; i >= length; i--) {
            bytes[i] = (byte) ('0' + number % 10);
            number /= 10;
        }
        length += digits;
        return this;
    }

    /**
     * Adds what came from a peer as the inside of a JSON string. Bytes above 127 are read as ISO-8859-1 and escaped, so
     * that the line is ASCII whatever was sent.
     */
    public LineBuffer putJson(AsciiString text) {
        byte[] array = text.array();
        int start = text.arrayOffset();
        int n = text.length();
        if (isPlain(array, start, start + n)) {
            return put(array, start, n);
        }
        ensure(n * 6);
        byte[] out = bytes; // here and below, for the compiler cannot know that nobody changes the fields meanwhile
        int to = length;
        for (int i = 0; i < n; i++) {
            int c = array[start + i] & 0xff;
            if (PLAIN[c]) {
                out[to++] = (byte) c;
            } else {
                to = escape(c, to);
            }
        }
        length = to;
        return this;
    }

    /**
     * Adds a key as it is, and behind it what came from a peer as a JSON string.
     *
     * @param key with the colon
     */
    @SuppressWarnings("deprecation") // as above
    public void putJson(String key, AsciiString text) {
        int n = key.length();
        int most = text.length();
        ensure(n + most + 2);
        key.getBytes(0, n, bytes, length);
        length += n;
        bytes[length++] = '"';
        byte[] array = text.array();
        int start = text.arrayOffset();
        if (isPlain(array, start, start + most)) {
            System.arraycopy(array, start, bytes, length, most);
            length += most;
        } else {
            putJson(text);
        }
        put('"');
    }

    /** Adds a key as it is, and behind it any text as a JSON string. */
    public void putJson(String key, String text) {
        put(key).put('"').putJson(text).put('"');
    }

    private LineBuffer put(byte[] array, int start, int count) {
        ensure(count);
        System.arraycopy(array, start, bytes, length, count);
        length += count;
        return this;
    }

    /** Whether bytes can stand in a JSON string as they are, and in any other that is quoted. */
    private static boolean isPlain(byte[] array, int start, int end) {
        int i = start;
        for (; i <= end - 8; i += 8) {
            long eight = (long) EIGHT.get(array, i);
            // Each has the highest bit of some byte set if: it is DEL or above (twice); a control sign; a quote; a
            // backslash. A carry or borrow into the next byte comes only from one that is seen itself.
            long signs = (eight + ONES)
                    | eight
                    | (eight - SPACES)
                    | ((eight ^ QUOTES) - ONES)
                    | ((eight ^ BACKSLASHES) - ONES);
            if ((signs & HIGHS) != 0) {
                return false;
            }
        }
        for (; i < end; i++) {
            if (!PLAIN[array[i] & 0xff]) {
                return false;
            }
        }
        return true;
    }

    /** Adds any text as the inside of a JSON string. */
    public LineBuffer putJson(String text) {
        int n = text.length();
        ensure(n * 6);
        byte[] out = bytes;
        int to = length;
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            if (c < PLAIN.length && PLAIN[c]) {
                out[to++] = (byte) c;
            } else {
                to = escape(c, to);
            }
        }
        length = to;
        return this;
    }

    /** Writes what cannot stand as it is, at most six bytes, for which there is room; returns where they end. */
    private int escape(int c, int to) {
        int end = to;
        bytes[end++] = '\\';
        if (c == '"' || c == '\\') {
            bytes[end++] = (byte) c;
        } else {
            bytes[end++] = 'u';
            bytes[end++] = HEX[c >>> 12 & 0xf];
            bytes[end++] = HEX[c >>> 8 & 0xf];
            bytes[end++] = HEX[c >>> 4 & 0xf];
            bytes[end++] = HEX[c & 0xf];
        }
        return end;
    }

    /**
     * Adds what came from a peer as Apache and nginx escape it: {@code \xHH} for what could end or confuse a line.
     *
     * @param signs what is escaped besides control and non-ASCII bytes
     */
    public LineBuffer putEscaped(AsciiString text, BitSet signs) {
        byte[] array = text.array();
        int start = text.arrayOffset();
        int n = text.length();
        if (signs.equals(QUOTED) && isPlain(array, start, start + n)) {
            return put(array, start, n);
        }
        ensure(n * 4);
        for (int i = 0; i < n; i++) {
            int c = array[start + i] & 0xff;
            if (c < ' ' || c >= 0x7f || signs.get(c)) {
                bytes[length++] = '\\';
                bytes[length++] = 'x';
                bytes[length++] = HEX[c >>> 4];
                bytes[length++] = HEX[c & 0xf];
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return this;
    }
}
