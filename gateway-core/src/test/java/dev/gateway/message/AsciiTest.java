package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AsciiTest {
    @Test
    void aFieldValueEndsWhereItsFirstForbiddenByteStands() {
        for (int value = Byte.MIN_VALUE; value <= Byte.MAX_VALUE; value++) {
            for (int position = 0; position < 24; position++) {
                byte[] bytes = new byte[position + 20];
                Arrays.fill(bytes, (byte) 'x');
                bytes[position] = (byte) value;
                bytes[position + 10] = '\r';
                int end = Ascii.isFieldValue((byte) value) ? position + 10 : position;

                assertThat(Ascii.fieldValueEnd(bytes, 0)).isEqualTo(end);
                assertThat(Ascii.fieldValueEnd(bytes, position)).isEqualTo(end);
            }
        }
    }

    @Test
    void whiteSpaceAtTheEndsIsSpacesAndTabsAlone() {
        for (String text : List.of("", "a", "\u00e9", "a \u00a0", "\u0085a\u00ff", "\u0001")) {
            AsciiString padded = new AsciiString((" \t" + text + "\t  ").getBytes(StandardCharsets.ISO_8859_1));
            assertThatObject(Ascii.trim(padded)).hasToString(text);
            assertThatObject(Ascii.trim(Ascii.trim(padded))).hasToString(text);
        }
        assertThatObject(Ascii.trim(new AsciiString(" \t "))).hasToString("");
    }

    @Test
    void eightBytesAtOnceAreJudgedAsOneByOne() {
        Random random = new Random(17);
        byte[] likely = {' ', '\t', 0x1f, 0x7e, 0x7f, (byte) 0x80, (byte) 0x9f, (byte) 0xff, '!', 'x', 0x01, 0x00};
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[1 + random.nextInt(40)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] =
                        round % 2 == 0 ? likely[random.nextInt(likely.length)] : (byte) (0x20 + random.nextInt(0x60));
            }
            bytes[bytes.length - 1] = '\r';
            int start = random.nextInt(bytes.length);
            int end = start;
            while (Ascii.isFieldValue(bytes[end])) {
                end++;
            }

            assertThat(Ascii.fieldValueEnd(bytes, start))
                    .as(Arrays.toString(bytes))
                    .isEqualTo(end);
        }
    }

    @Test
    void aValueWithoutAnEndIsNotLookedForBehindTheArray() {
        byte[] bytes = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'};
        assertThatThrownBy(() -> Ascii.fieldValueEnd(bytes, 0)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
