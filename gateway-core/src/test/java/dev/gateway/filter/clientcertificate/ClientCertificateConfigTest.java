package dev.gateway.filter.clientcertificate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.ConfigPrinter;
import dev.gateway.filter.certificate.CertificateName;
import dev.gateway.filter.certificate.CertificateName.Kind;
import dev.gateway.filter.clientcertificate.ClientCertificateConfig.Part;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the settings of a filter of client certificates are, written and not, and on which listeners they work. */
class ClientCertificateConfigTest {
    private static final Path DIRECTORY = Path.of("src/test/resources").toAbsolutePath();
    private static final String ASKS = "- {name: asks, port: 8443, protocol: HTTPS,"
            + " tls: {selfSigned: true, clientAuth: optional, caFile: tls/server.crt}}";
    private static final String ASKS_NOT = "- {name: secure, port: 8444, protocol: HTTPS, tls: {selfSigned: true}}";
    private static final String CLEAR = "- {name: clear, port: 8080, protocol: HTTP}";

    private static LoadResult load(String settings, String parents, String... listeners) {
        String yaml =
                """
                listeners:
                  %s
                routes:
                  - parentRefs: [%s]
                    rules:
                      - backendRefs: [{name: app}]
                        filters:
                          - type: ClientCertificate
                            clientCertificate: {%s}
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """
                        .formatted(String.join("\n  ", listeners), parents, settings);
        return ConfigLoader.parse("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), DIRECTORY, Map.of());
    }

    private static ClientCertificateConfig valid(String settings) {
        LoadResult result = load(settings, "{name: asks}", ASKS, CLEAR);
        assertThat(result.problems()).isEmpty();
        GatewayConfig config = ((LoadResult.Valid) result).config();
        ClientCertificateConfig read = filter(config);
        LoadResult printed = ConfigLoader.parse(
                "test.yaml", ConfigPrinter.yaml(config).getBytes(StandardCharsets.UTF_8), DIRECTORY, Map.of());
        ClientCertificateConfig again = filter(((LoadResult.Valid) printed).config());
        assertThat(again.summary()).isEqualTo(read.summary());
        assertThat(again.forward()).isEqualTo(read.forward());
        return read;
    }

    private static ClientCertificateConfig filter(GatewayConfig config) {
        return (ClientCertificateConfig)
                config.routes().get(0).rules().get(0).filters().get(0);
    }

    private static List<String> problems(String settings, String parents, String... listeners) {
        return load(settings, parents, listeners).problems().stream()
                .map(each -> each.position().line() + ":" + each.position().column() + ": " + each.severity() + ": "
                        + each.message())
                .toList();
    }

    @Test
    void defaultsAreSafe() {
        ClientCertificateConfig filter = valid("");
        assertThat(filter.required()).isTrue();
        assertThat(filter.allow()).isEmpty();
        assertThat(filter.forward()).isEmpty();
        assertThat(filter.maxForwardedSize()).isEqualTo(16 * 1024);
        assertThat(filter.guards()).isTrue();
        assertThat(filter.identifies()).isTrue();
        assertThat(filter.isRepeatable()).isFalse();
        assertThat(filter.summary()).isEqualTo("ClientCertificate: any");
    }

    @Test
    void theSummaryTellsWhoseCertificatesAreRight() {
        ClientCertificateConfig filter = valid("required: false, forward: [certificate, chain], allow:"
                + " [{uri: \"spiffe://example.org/ns/shop/*\"}, {dns: Billing.Internal.}, {email: Ann@Example.COM},"
                + " {commonName: Ann Müller}]");
        assertThat(filter.summary())
                .isEqualTo(
                        "ClientCertificate: one with uri spiffe://example.org/ns/shop/* or dns billing.internal or email"
                                + " Ann@example.com or commonName Ann Müller, or none");
        assertThat(filter.forward()).containsExactly(Part.CERTIFICATE, Part.CHAIN);
        assertThat(filter.allow())
                .extracting(CertificateName::kind)
                .containsExactly(Kind.URI, Kind.DNS, Kind.EMAIL, Kind.COMMON_NAME);
    }

    @Test
    void aListenerThatAsksForNoCertificateIsToldOf() {
        assertThat(problems("", "", CLEAR))
                .containsExactly("9:32: ERROR: listener 'clear' (line 2) has no TLS, and so no client certificates:"
                        + " this filter refuses all its requests; write protocol HTTPS with tls: {clientAuth: optional,"
                        + " caFile: …}, or name another listener in parentRefs");
        assertThat(problems("", "{name: secure}", ASKS, ASKS_NOT))
                .containsExactly("10:32: ERROR: listener 'secure' (line 3) does not ask for client certificates:"
                        + " this filter refuses all its requests; add clientAuth: optional and caFile to its tls");
        assertThat(problems("", "", ASKS, CLEAR))
                .containsExactly("10:32: WARNING: listener 'clear' (line 3) has no TLS, and so no client certificates:"
                        + " this filter refuses all its requests; write protocol HTTPS with tls: {clientAuth: optional,"
                        + " caFile: …}, or name another listener in parentRefs");
    }

    @Test
    void aFilterThatRequiresNothingMayBeOnOtherListenersToo() {
        assertThat(problems("required: false", "", ASKS, CLEAR)).isEmpty();
        assertThat(problems("required: false", "", CLEAR))
                .containsExactly("9:32: WARNING: listener 'clear' (line 2) has no TLS, and so no client certificates:"
                        + " this filter does nothing there; write protocol HTTPS with tls: {clientAuth: optional,"
                        + " caFile: …}, or name another listener in parentRefs");
    }
}
