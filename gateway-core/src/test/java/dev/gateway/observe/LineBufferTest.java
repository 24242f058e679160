package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** No byte of a peer gets out of the string that it is written into, wherever it stands. */
class LineBufferTest {
    private static final int LONGEST = 17; // two blocks of eight, and one more

    private final LineBuffer buffer = new LineBuffer();

    @Test
    void eachByteIsEscapedForJsonAtEachPlace() {
        everywhere(
                (text, expected) -> {
                    buffer.clear();
                    assertThat(buffer.putJson(text).toString()).isEqualTo(expected);
                },
                c -> c == '"' || c == '\\' ? "\\" + (char) c : "\\u%04x".formatted(c));
    }

    @Test
    void eachByteIsEscapedForTemplatesAtEachPlace() {
        everywhere(
                (text, expected) -> {
                    buffer.clear();
                    assertThat(buffer.putEscaped(text, LineBuffer.QUOTED).toString())
                            .isEqualTo(expected);
                },
                c -> "\\x%02x".formatted(c));
    }

    private interface Check {
        void that(AsciiString text, String expected);
    }

    private interface Escape {
        String of(int c);
    }

    /** Each byte at each place of texts of each length, all else of which is plain, at any offset of their array. */
    private static void everywhere(Check check, Escape escape) {
        for (int c = 0; c < 256; c++) {
            boolean plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
            String written = plain ? String.valueOf((char) c) : escape.of(c);
            for (int length = 1; length <= LONGEST; length++) {
                for (int at = 0; at < length; at++) {
                    int offset = (c + at) % 9;
                    byte[] array = new byte[offset + length + 3];
                    Arrays.fill(array, (byte) '"'); // around it, which is not to be looked at
                    Arrays.fill(array, offset, offset + length, (byte) 'a');
                    array[offset + at] = (byte) c;
                    check.that(
                            new AsciiString(array, offset, length, false),
                            "a".repeat(at) + written + "a".repeat(length - at - 1));
                }
            }
        }
    }
}
