package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class OddNamesTest {
    @Test
    void lettersDigitsAndHyphensArePlain() {
        Fields fields = Heads.fields("Host: a", "Sec-CH-UA: b", "X-1-2: c", "Z-: d", "e2: e", "Content-Length: 1");
        String before = fields.toString();
        assertThat((CharSequence) OddNames.first(fields)).isNull();
        OddNames.remove(fields);
        assertThat(fields.toString()).isEqualTo(before);
    }

    /** Eight characters are looked at together, and those behind a name may be anything. */
    @Test
    void whereTheCharacterStandsMakesNoDifference() {
        String odd = "!#$%&'*+.^_`|~";
        String plain = "abcxyzABCXYZ0189-";
        for (int length = 1; length <= 20; length++) {
            for (int at = 0; at < length; at++) {
                for (char c : (odd + plain).toCharArray()) {
                    byte[] bytes = new byte[40];
                    Arrays.fill(bytes, (byte) 0xff);
                    for (int i = 0; i < length; i++) {
                        bytes[3 + i] = (byte) (i == at ? c : plain.charAt((i + at) % plain.length()));
                    }
                    boolean expected = odd.indexOf(c) >= 0 || !Character.isLetter(bytes[3]);
                    assertThat(Ascii.isOddToken(bytes, 3, length)).isEqualTo(expected);
                    byte[] exact = Arrays.copyOf(bytes, 3 + length);
                    assertThat(Ascii.isOddToken(exact, 3, length)).isEqualTo(expected);
                }
            }
        }
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

    @Test
    void namesThatAServerMayTakeForAnotherGoWithIt() {
        Fields fields = Heads.fields(
                "X-User: 1", "x_user: 2", "X.User: 3", "X-Users: 4", "XXUser: 5", "Date: 6", "X-Use: 7", "X+USER: 8");
        OddNames.removeAlike(fields, FieldName.of("X-User"));
        assertThat(fields.toString()).isEqualTo("X-Users: 4\nXXUser: 5\nDate: 6\nX-Use: 7\n");
        OddNames.removeAlike(fields, FieldName.DATE);
        OddNames.removeAlike(fields, FieldName.of("X_Use"));
        assertThat(fields.toString()).isEqualTo("X-Users: 4\nXXUser: 5\n");
    }

    @Test
    void theNameItselfIsNoTwin() {
        Fields fields =
                Heads.fields("X-User: 1", "x_user: 2", "X-USER: 3", "X.User: 4", "XXUser: 5", "X~Forwarded~For: 6");
        assertThat(OddNames.hasTwin(fields, FieldName.of("X-User"))).isTrue();
        assertThat(OddNames.removeTwins(fields, FieldName.of("X-User"))).isTrue();
        assertThat(fields.toString()).isEqualTo("X-User: 1\nX-USER: 3\nXXUser: 5\nX~Forwarded~For: 6\n");
        assertThat(OddNames.hasTwin(fields, FieldName.of("X-User"))).isFalse();
        assertThat(OddNames.removeTwins(fields, FieldName.of("X-User"))).isFalse();
        assertThat(OddNames.hasTwin(fields, FieldName.X_FORWARDED_FOR)).isTrue();
        assertThat(OddNames.hasTwin(fields, FieldName.of("XXUser"))).isFalse();
    }

    @Test
    void onlyWhatIsOddItselfIsAnOddTwin() {
        Fields fields = Heads.fields("X-User: 1", "X_User: 2", "X.User: 3");
        OddNames.removeOddTwins(fields, FieldName.of("X_User"));
        assertThat(fields.toString()).isEqualTo("X-User: 1\nX_User: 2\n");
        OddNames.removeTwins(fields, FieldName.of("X_User"));
        assertThat(fields.toString()).isEqualTo("X_User: 2\n");
    }

    /** What the gateway says of a client, or what counts as a credential, may stand under no name that looks like it. */
    @Test
    void aPlainNameIsTheTwinOfAnOddOneThatTheGatewayTrusts() {
        Fields fields = Heads.fields("X-User: 1", "X_User: 2");
        assertThat(OddNames.hasTwin(fields, FieldName.of("X_User"))).isTrue();
        OddNames.removeAlike(fields, FieldName.of("X_User"));
        assertThat(fields.toString()).isEmpty();
    }

    @Test
    void aNameThatDoesNotBeginWithALetterIsOdd() {
        for (String name : List.of("1Content-Length", "-Content-Length", "0", "-", "9-a")) {
            Fields fields = Heads.fields("Host: a", name + ": 1", "Content-Length: 5", "A1: c");
            assertThat(String.valueOf(OddNames.first(fields))).isEqualTo(name);
            OddNames.remove(fields);
            assertThat(fields.toString()).isEqualTo("Host: a\nContent-Length: 5\nA1: c\n");
        }
    }
}
