package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForwardedFieldsTest {
    private static final String[] CLAIMS = {
        "X-Forwarded-For: 1.1.1.1",
        "X-Forwarded-Proto: https",
        "x-forwarded-for: 2.2.2.2",
        "X-Forwarded-Host: public.example",
        "Forwarded: for=1.1.1.1"
    };

    private static String apply(boolean rfc7239, boolean trusted, String ip, String... fields) {
        return apply(rfc7239 ? ForwardedFields.Mode.BOTH : ForwardedFields.Mode.X_FORWARDED, trusted, ip, fields);
    }

    private static String apply(ForwardedFields.Mode mode, boolean trusted, String ip, String... fields) {
        RequestHead head = Heads.get("app.example:8080", "/", fields);
        if (!trusted) {
            ProxyFields.removeAll(head.fields());
        }
        new ForwardedFields(mode).apply(head, new AsciiString(ip), new AsciiString("http"), 8080);
        return head.fields().toString();
    }

    @Test
    void theUpstreamLearnsWhereARequestCameFrom() {
        assertThat(apply(false, false, "10.0.0.9"))
                .isEqualTo(
                        """
                        X-Forwarded-For: 10.0.0.9
                        X-Forwarded-Proto: http
                        X-Forwarded-Host: app.example:8080
                        X-Forwarded-Port: 8080
                        """);
    }

    @Test
    void whatAClientClaimsIsReplaced() {
        assertThat(apply(false, false, "10.0.0.9", CLAIMS)).isEqualTo(apply(false, false, "10.0.0.9"));
    }

    @Test
    void whatATrustedProxySaysIsKeptAndAddedTo() {
        assertThat(apply(false, true, "10.0.0.9", CLAIMS))
                .isEqualTo(
                        """
                        X-Forwarded-Proto: https
                        X-Forwarded-Host: public.example
                        Forwarded: for=1.1.1.1
                        X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.9
                        X-Forwarded-Port: 443
                        """);
    }

    @Test
    void aTrustedProxyThatSaysNothingIsTheClient() {
        assertThat(apply(true, true, "10.0.0.9")).isEqualTo(apply(true, false, "10.0.0.9"));
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.9,for=10.0.0.9",
        "2001:db8::1,'for=\"[2001:db8::1]\"'",
        "unix,for=_unix",
    })
    void forwardedNamesTheClientAsRfc7239Writes(String ip, String element) {
        assertThat(apply(true, false, ip, "Forwarded: for=6.6.6.6"))
                .contains("Forwarded: " + element + ";host=\"app.example:8080\";proto=http\n")
                .doesNotContain("6.6.6.6");
        assertThat(apply(true, true, ip, "Forwarded: for=6.6.6.6", "Forwarded: for=7.7.7.7"))
                .contains("Forwarded: for=6.6.6.6, for=7.7.7.7, " + element + ";");
    }

    @Test
    void aRequestWithoutHostOrPortTellsWhatIsKnown() {
        RequestHead head = Heads.get("", "/");
        new ForwardedFields(ForwardedFields.Mode.BOTH)
                .apply(head, new AsciiString("unix"), new AsciiString("https"), 0);

        assertThat(head.fields())
                .hasToString(
                        """
                        Forwarded: for=_unix;proto=https
                        X-Forwarded-For: unix
                        X-Forwarded-Proto: https
                        X-Forwarded-Port: 443
                        """);
    }
}
