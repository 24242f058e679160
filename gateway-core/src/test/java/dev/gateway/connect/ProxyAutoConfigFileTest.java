package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProxyAutoConfigFileTest {
    private final ProxyAutoConfigFile file = new ProxyAutoConfigFile(new ProxyAutoConfig(
            Rules.only(Rules.policy(Rules.allow("*"), List.of())),
            new AddressRules.Settings("egress", true, List.of(), List.of(), List.of(), false)));

    private Verdict.Reply ask(String authority, boolean tls) {
        FakeContext context = tls ? FakeContext.withCertificate(null) : FakeContext.from("192.0.2.9");
        Verdict verdict = file.onRequest(Heads.get(authority, "/proxy.pac"), context);
        assertThat(verdict).isInstanceOf(Verdict.Reply.class);
        return (Verdict.Reply) verdict;
    }

    private String script(String authority, boolean tls) {
        return ask(authority, tls).body().toString(StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @CsvSource({
        "proxy.example:3128, false, PROXY proxy.example:3128",
        "proxy.example, false, PROXY proxy.example:80",
        "proxy.example, true, HTTPS proxy.example:443",
        "proxy.example:8443, true, HTTPS proxy.example:8443",
        "[2001:db8::1]:3128, false, PROXY [2001:db8::1]:3128",
    })
    void theProxyIsWhereTheClientAskedForTheScript(String authority, boolean tls, String proxy) {
        assertThat(script(authority, tls)).contains("\nvar proxy = \"" + proxy + "\";\n");
    }

    @Test
    void eachClientIsToldTheNameThatItUsesWhoeverAskedBefore() {
        assertThat(script("a.example:1", false)).contains("\"PROXY a.example:1\"");
        assertThat(script("b.example:1", false)).contains("\"PROXY b.example:1\"");
        assertThat(script("a.example:1", false)).contains("\"PROXY a.example:1\"");
    }

    @Test
    void theScriptIsLabeledSoThatPagesOfOtherSitesCannotRunIt() {
        Verdict.Reply reply = ask("proxy.example", false);
        assertThat(reply.head().status()).isEqualTo(200);
        assertThat(field(reply, "Content-Type")).isEqualTo("application/x-ns-proxy-autoconfig");
        assertThat(field(reply, "Cache-Control")).isEqualTo("max-age=300");
        assertThat(field(reply, "X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(field(reply, "Cross-Origin-Resource-Policy")).isEqualTo("same-origin");
        assertThat(reply.head().contentLength()).isEqualTo(reply.body().readableBytes());
    }

    private static String field(Verdict.Reply reply, String name) {
        return Objects.requireNonNull(reply.head().fields().first(FieldName.of(name)))
                .toString();
    }
}
