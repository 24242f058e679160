package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CredentialsTest {
    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String secret(String field) {
        return new String(
                Objects.requireNonNull(Credentials.parse(new AsciiString(field)))
                        .secret(),
                StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({"a:b", "ann:", "ann:p:w", "j\u00fcrgen:p\u00e4ss", "a b:c d", "a::"})
    void aUserAndAPasswordAreDecoded(String userPass) {
        assertThat(secret("Basic " + base64(userPass))).isEqualTo(userPass);
        assertThat(secret("bAsIc   " + base64(userPass).replace("=", ""))).isEqualTo(userPass);
    }

    @ParameterizedTest
    @ValueSource(strings = {"abc", "a-b.c_d~e+f/0==", "eyJhbGciOi.x.y"})
    void aTokenIsTakenAsItIs(String token) {
        Credentials credentials = Objects.requireNonNull(Credentials.parse(new AsciiString("bearer " + token)));

        assertThat(credentials.scheme()).isEqualTo(Credentials.Scheme.BEARER);
        assertThat(credentials.secret()).isEqualTo(token.getBytes(StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Basic",
                "Basic ",
                "Basic =",
                "Basic \t",
                "Basic YTpi YTpi",
                "Basic YTpi, Basic YTpi",
                "Basic YT@i",
                "Basic YTpi=",
                "Basic Y",
                "Basic YWI=",
                "Basic OmI=",
                "Basic Og==",
                "BasicYTpi",
                "Basic,YTpi",
                "Basic\tYTpi",
                "Basic YQA6Yg==",
                "Basic YToK",
                "Basic YTp/",
                "Digest username=\"a\"",
                "Negotiate abc",
                "Bearer",
                "Bearer a b",
                "Bearer =",
                "Bearer a=b",
                "Bearer \u00e4",
                "Certificate ann",
                "Basic -_-_"
            })
    void whatIsMalformedOrOfAnotherKindIsNone(String field) {
        assertThat(Credentials.parse(new AsciiString(field))).isNull();
    }

    @Test
    void whatIsVeryLongIsNone() {
        assertThat(Credentials.parse(new AsciiString("Basic " + base64("a:" + "b".repeat(3000)))))
                .isNotNull();
        assertThat(Credentials.parse(new AsciiString("Basic " + base64("a:" + "b".repeat(3100)))))
                .isNull();
    }

    @Test
    void secretsAreNotShown() {
        assertThat(Credentials.parse(new AsciiString("Basic " + base64("ann:secret"))))
                .asString()
                .doesNotContain("ann")
                .doesNotContain("secret");
    }
}
