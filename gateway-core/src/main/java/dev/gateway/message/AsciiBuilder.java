package dev.gateway.message;

import io.netty.util.AsciiString;
import java.util.Arrays;

/** ASCII string builder: puts an {@link AsciiString} together without intermediate strings. Used once, by one thread. */
public final class AsciiBuilder {
    private byte[] bytes;
    private int length;

    /** Makes a builder; it grows beyond the capacity if it must. */
    public AsciiBuilder(int capacity) {
        bytes = new byte[capacity];
    }

    /** Appends all of it. */
    public AsciiBuilder add(AsciiString part) {
        return add(part, 0, part.length());
    }

    /** Appends the bytes from {@code start} (inclusive) to {@code end} (exclusive). */
    public AsciiBuilder add(AsciiString part, int start, int end) {
        ensure(end - start);
        System.arraycopy(part.array(), part.arrayOffset() + start, bytes, length, end - start);
        length += end - start;
        return this;
    }

    /** Appends one byte. */
    public AsciiBuilder add(char ascii) {
        ensure(1);
        bytes[length++] = (byte) ascii;
        return this;
    }

    /** Appends a number that is not negative. */
    public AsciiBuilder addDecimal(int number) {
        int divisor = 1;
        while (number / divisor >= 10) {
            divisor *= 10;
        }
        for (; divisor > 0; divisor /= 10) {
            add((char) ('0' + number / divisor % 10));
        }
        return this;
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
        }
    }

    /** Returns what was built, without copying; the builder must not be used after it. */
    public AsciiString build() {
        return new AsciiString(bytes, 0, length, false);
    }
}
