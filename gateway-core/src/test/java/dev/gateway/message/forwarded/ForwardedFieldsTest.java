package dev.gateway.message.forwarded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.Heads;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
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
        return apply(rfc7239 ? ForwardedHeaders.BOTH : ForwardedHeaders.X_FORWARDED, trusted, ip, fields);
    }

    private static String apply(ForwardedHeaders mode, boolean trusted, String ip, String... fields) {
        return apply(mode, trusted ? 100 : -1, ip, fields);
    }

    /** The client is that many hops before the peer, or stands at the first one; a negative number is for a stranger. */
    private static String apply(ForwardedHeaders mode, int hopsBack, String ip, String... fields) {
        return apply(mode, hopsBack, Heads.get("app.example:8080", "/", fields), ip);
    }

    private static String apply(ForwardedHeaders mode, int hopsBack, RequestHead head, String ip) {
        ForwardedFields forwarded = new ForwardedFields(mode);
        ClientTarget target = ClientTarget.of(Scheme.HTTP, head.authority());
        ForwardedClaims claims = null;
        if (hopsBack < 0) {
            ProxyFields.removeAll(head.fields());
        } else {
            ForwardedHops hops = forwarded.hops(head.fields());
            for (int i = 0; i < hopsBack && hops.next() != null; i++) {}
            claims = hops.claims(Scheme.HTTP, head.authority());
            target = claims.target();
            ForwardedFields.removeUnread(head.fields(), claims);
        }
        forwarded.apply(head, new AsciiString(ip), Scheme.HTTP, target, claims);
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
                        X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.9
                        X-Forwarded-Proto: https
                        X-Forwarded-Host: public.example
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
    void aRequestWithoutHostTellsWhatIsKnown() {
        assertThat(apply(ForwardedHeaders.BOTH, -1, Heads.get("", "/"), "unix"))
                .isEqualTo(
                        """
                        Forwarded: for=_unix;proto=http
                        X-Forwarded-For: unix
                        X-Forwarded-Proto: http
                        X-Forwarded-Port: 80
                        """);
    }

    /** Behind a published port, only the client's own Host has the port that the client used. */
    @ParameterizedTest
    @CsvSource({
        "shop.example, 80",
        "shop.example:9443, 9443",
        "shop.example:, 80",
        "[::1]:81, 81",
        "[::1], 80",
    })
    void thePortIsThatOfHost(String host, String port) {
        assertThat(apply(ForwardedHeaders.X_FORWARDED, -1, Heads.get(host, "/"), "10.0.0.9"))
                .contains("X-Forwarded-Port: " + port + "\n");
    }

    /** Fields of a trusted proxy, where the client stands; then scheme, host and port. Host is app.example:8080. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "X-Forwarded-Proto: https | 9 | https | app.example:8080 | 8080",
                "X-Forwarded-Proto: HTTPS; X-Forwarded-Host: shop.test | 9 | https | shop.test | 443",
                "X-Forwarded-Proto: wss; X-Forwarded-Host: shop.test | 9 | https | shop.test | 443",
                "X-Forwarded-Proto: ws; X-Forwarded-Host: shop.test | 9 | http | shop.test | 80",
                "X-Forwarded-Proto: spdy; X-Forwarded-Host: shop.test | 9 | http | shop.test | 80",
                "X-Forwarded-Host: shop.test:8444 | 9 | http | shop.test:8444 | 8444",
                "X-Forwarded-Host: shop.test:8444; X-Forwarded-Port: 444 | 9 | http | shop.test:8444 | 444",
                "X-Forwarded-Host: a b; X-Forwarded-Port: 0 | 9 | http | app.example:8080 | 8080",
                "X-Forwarded-Port: 65536 | 9 | http | app.example:8080 | 8080",
                "X-Forwarded-Proto: https, http | 0 | http | app.example:8080 | 8080",
                "X-Forwarded-For: c, p; X-Forwarded-Proto: https, http | 2 | https | app.example:8080 | 8080",
                "X-Forwarded-For: c, p; X-Forwarded-Proto: https, http | 1 | http | app.example:8080 | 8080",
                "X-Forwarded-For: x, c, p; X-Forwarded-Proto: https, http | 2 | http | app.example:8080 | 8080",
                "X-Forwarded-For: c, p; X-Forwarded-Host: shop.test, in.test | 2 | http | shop.test | 80",
                "X-Forwarded-For: c; Forwarded: for=c\\;proto=https | 1 | http | app.example:8080 | 8080",
                "X-Forwarded-Proto: https; Forwarded: for=c\\;proto=http\\;host=shop.test | 1 | http | shop.test | 80",
                "Forwarded: for=c\\;proto=https\\;host=\"shop.test:444\" | 1 | https | shop.test:444 | 444",
                "Forwarded: for=x\\;proto=https, for=c | 1 | http | app.example:8080 | 8080",
                "Forwarded: for=c\\;Proto=\"https\", for=p\\;proto=http | 2 | https | app.example:8080 | 8080",
                "Forwarded: for=c, for=p\\;proto=https | 2 | https | app.example:8080 | 8080",
            })
    void whatATrustedProxySaysOfItsClientWins(String lines, int place, String scheme, String host, String port) {
        String[] fields = lines.replace("\\;", "\0")
                .replace("; ", "\n")
                .replace('\0', ';')
                .split("\n");
        assertThat(apply(ForwardedHeaders.X_FORWARDED, place, "10.0.0.9", fields))
                .contains("X-Forwarded-Proto: " + scheme + "\n")
                .contains("X-Forwarded-Host: " + host + "\n")
                .contains("X-Forwarded-Port: " + port + "\n");
    }

    @Test
    void oneFormIsReadAndTheOtherWritten() {
        String[] lists = {
            "X-Forwarded-For: 2001:db8::1, 1.1.1.1:99, we/ird, hidden",
            "X-Forwarded-Proto: https",
            "X-Forwarded-Host: shop.test",
            "Forwarded: for=6.6.6.6"
        };
        assertThat(apply(ForwardedHeaders.BOTH, 3, "10.0.0.9", lists))
                .isEqualTo(
                        """
                        Forwarded: for="[2001:db8::1]", for="1.1.1.1:99";host="shop.test";proto=https, for=unknown, \
                        for=_hidden, for=10.0.0.9;host="app.example:8080";proto=http
                        X-Forwarded-For: 2001:db8::1, 1.1.1.1:99, we/ird, hidden, 10.0.0.9
                        X-Forwarded-Proto: https
                        X-Forwarded-Host: shop.test
                        X-Forwarded-Port: 443
                        """);
        String standard = "Forwarded: for=\"[2001:db8::1]:80\", for=\"1.1.1.1:99\";proto=https, for=\"a, b\", for=_x";
        assertThat(apply(ForwardedHeaders.X_FORWARDED, 3, "10.0.0.9", standard, "X-Forwarded-Prefix: /a"))
                .isEqualTo(
                        """
                        X-Forwarded-For: 2001:db8::1, 1.1.1.1, unknown, _x, 10.0.0.9
                        X-Forwarded-Proto: https
                        X-Forwarded-Host: app.example:8080
                        X-Forwarded-Port: 8080
                        """);
    }

    @Test
    void withoutAFormToWriteTheOneThatWasReadStays() {
        assertThat(apply(ForwardedHeaders.OFF, 9, "10.0.0.9", "X-Forwarded-For: 1.1.1.1", "Forwarded: for=6.6.6.6"))
                .isEqualTo("X-Forwarded-For: 1.1.1.1\n");
    }
}
