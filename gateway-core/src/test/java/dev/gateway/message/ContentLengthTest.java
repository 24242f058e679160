package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContentLengthTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "9, 9",
        "10, 10",
        "0009, 9",
        "1234567890, 1234567890",
        "9223372036854775807, 9223372036854775807",
        "00009223372036854775807, 9223372036854775807"
    })
    void digitsAreANumber(String value, long number) {
        assertThat(ContentLength.parse(new AsciiString(value))).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-1",
                "+1",
                "1 ",
                " 1",
                "1,1",
                "/",
                ":",
                "1a",
                "0x10",
                "9223372036854775808",
                "9223372036854775810",
                "18446744073709551617",
                "92233720368547758070"
            })
    void anythingElseIsNone(String value) {
        assertThat(ContentLength.parse(new AsciiString(value))).isEqualTo(-1);
    }

    @Test
    void aViewIsReadWithinItsBounds() {
        assertThat(ContentLength.parse(new AsciiString("x12y").subSequence(1, 3, false)))
                .isEqualTo(12);
    }
}
