package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class JsonStringTest {
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder();
        JsonString.append(out, text);
        return out.toString();
    }

    @Test
    void whatCanBeReadStaysAsItIs() {
        assertThat(quoted("a 'b' <c> /~ \u00e9 \u4e2d \ud83d\ude00"))
                .isEqualTo("\"a 'b' <c> /~ \u00e9 \u4e2d \ud83d\ude00\"");
    }

    @Test
    void whatJsonWritesShortlyIsWrittenSo() {
        assertThat(quoted("\"\\\n\r\t")).isEqualTo("\"\\\"\\\\\\n\\r\\t\"");
    }

    @ParameterizedTest
    @CsvSource({
        "0", "8", "1f", "7f", "85", "9f", "ad", "200b", "2028", "2029", "202e", "2066", "feff", "d800", "dfff", "ffff"
    })
    void whatCannotBeSeenIsEscaped(String code) {
        String escaped = "\\u" + "0".repeat(4 - code.length()) + code;
        assertThat(quoted("a" + (char) Integer.parseInt(code, 16) + "b")).isEqualTo("\"a" + escaped + "b\"");
    }

    @ParameterizedTest
    @CsvSource({"e0001, db40, dc01", "e0020, db40, dc20", "e007f, db40, dc7f", "1d173, d834, dd73"})
    void whatCannotBeSeenBeyondTheFirstPlaneIsEscapedInHalves(String code, String first, String second) {
        String text = "a" + Character.toString(Integer.parseInt(code, 16)) + "b";
        assertThat(quoted(text)).isEqualTo("\"a\\u" + first + "\\u" + second + "b\"");
        assertThat(new Load(LoadSettings.builder().build()).loadFromString(quoted(text)))
                .isEqualTo(text);
    }

    @Test
    void eachTextIsReadAsItWasWritten() {
        Random random = new Random(25);
        Load reader = new Load(LoadSettings.builder().build());
        for (int i = 0; i < 2_000; i++) {
            String text = random.ints(1 + random.nextInt(20), 0, 0x11000)
                    .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)
                    .filter(Character::isDefined)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            assertThat(reader.loadFromString(
                            new JsonText().object().put(text, text).endObject().toString()))
                    .isEqualTo(Map.of(text, text));
            assertThat(reader.loadFromString("[" + quoted(text) + "]")).isEqualTo(List.of(text));
        }
    }
}
