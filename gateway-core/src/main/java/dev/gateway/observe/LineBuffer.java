package dev.gateway.observe;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;

/** Builds log lines as bytes; reused by its event loop, so it allocates only while it grows. */
final class LineBuffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final boolean[] PLAIN = new boolean[256]; // in a JSON string

    static {
        Arrays.fill(PLAIN, ' ', 0x7f, true);
        PLAIN['"'] = false;
        PLAIN['\\'] = false;
    }

    private byte[] bytes;
    private int length;

    LineBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, length);
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }

    /** Adds a byte as it is. */
    LineBuffer put(char c) {
        ensure(1);
        bytes[length++] = (byte) c;
        return this;
    }

    /** Adds text of our own that needs no escaping. */
    @SuppressWarnings("deprecation") // for dropping what ASCII does not have; nothing else copies bytes as they are
    LineBuffer put(String text) {
        int n = text.length();
        ensure(n);
        text.getBytes(0, n, bytes, length);
        length += n;
        return this;
    }

    /** Adds bytes as they are. */
    LineBuffer put(byte[] more) {
        ensure(more.length);
        System.arraycopy(more, 0, bytes, length, more.length);
        length += more.length;
        return this;
    }

    LineBuffer put(long number) {
        if (number < 0) {
            put('-');
            number = -number;
        }
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
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
    LineBuffer putHex(long number) {
        ensure(16);
        for (int shift = 60; shift >= 0; shift -= 4) {
            bytes[length++] = HEX[(int) (number >>> shift) & 0xf];
        }
        return this;
    }

    /** Adds the low digits of a number, with leading zeros. */
    LineBuffer putPadded(int number, int digits) {
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
    LineBuffer putJson(AsciiString text) {
        byte[] array = text.array();
        int start = text.arrayOffset();
        int n = text.length();
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

    /** Adds any text as the inside of a JSON string. */
    LineBuffer putJson(String text) {
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
    LineBuffer putEscaped(AsciiString text, BitSet signs) {
        byte[] array = text.array();
        int start = text.arrayOffset();
        int n = text.length();
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
