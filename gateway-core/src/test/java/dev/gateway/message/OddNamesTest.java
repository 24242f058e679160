package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OddNamesTest {
    @Test
    void lettersDigitsAndHyphensArePlain() {
        Fields fields = Heads.fields("Host: a", "Sec-CH-UA: b", "X-1-2: c", "-: d", "2: e", "Content-Length: 1");
        String before = fields.toString();
        assertThat((CharSequence) OddNames.first(fields)).isNull();
        OddNames.remove(fields);
        assertThat(fields.toString()).isEqualTo(before);
    }

    @Test
    void anyOtherCharacterOfATokenIsOdd() {
        for (char c : "!#$%&'*+.^_`|~".toCharArray()) {
            String name = "Content" + c + "Length";
            Fields fields = Heads.fields("Host: a", name + ": 1", "X-User: b", c + ": 2", "Accept: c");
            assertThat(String.valueOf(OddNames.first(fields))).isEqualTo(name);
            OddNames.remove(fields);
            assertThat(fields.toString()).isEqualTo("Host: a\nX-User: b\nAccept: c\n");
        }
    }
}
