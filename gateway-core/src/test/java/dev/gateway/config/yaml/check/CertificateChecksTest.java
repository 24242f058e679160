package dev.gateway.config.yaml.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.format.crypto.Certificates;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateChecksTest {
    private static final Path TEST_FILES = Path.of("src/test/resources").toAbsolutePath();

    /** When the certificate of server.test begins and ends. */
    private static final Instant BEGIN = Instant.parse("2026-11-21T09:03:26Z");

    private static final Instant END = Instant.parse("2126-10-28T09:03:26Z");

    private static final String LISTENER =
            """
            listeners:
              - name: web
                port: 8443
                protocol: HTTPS
                tls: {certificateRefs: [{certFile: tls/server.crt, keyFile: tls/server.key}]}
            routes: [{rules: [{backendRefs: [{name: app}]}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
            """;

    private static List<String> problems(String text, Instant now) {
        return ConfigLoader.parse("test.yaml", text.getBytes(StandardCharsets.UTF_8), TEST_FILES, Map.of(), now)
                .problems()
                .stream()
                .map(each -> each.toString().replace(TEST_FILES + "/", ""))
                .toList();
    }

    @Test
    void aCertificateThatExpiresWithinTwoWeeksIsWarnedOf() {
        Instant twoWeeksBefore = END.minus(Duration.ofDays(14));
        assertThat(problems(LISTENER, twoWeeksBefore)).isEmpty();
        assertThat(problems(LISTENER, twoWeeksBefore.plusSeconds(1))).containsExactly(soon());
        assertThat(problems(LISTENER, END)).containsExactly(soon());
    }

    private static String soon() {
        return "test.yaml:5:40: warning: certFile: the certificate of CN=server.test expires soon, at " + END;
    }

    @Test
    void aCertificateInDerIsTakenAsTheGatewayTakesIt(@TempDir Path directory) throws Exception {
        Path pem = TEST_FILES.resolve("tls/server.crt");
        Path der = directory.resolve("server.der");
        Files.write(der, Certificates.parse(Files.readAllBytes(pem), pem).get(0).getEncoded());
        assertThat(problems(LISTENER.replace("certFile: tls/server.crt", "certFile: " + der), BEGIN))
                .isEmpty();
    }

    @Test
    void anExpiredCertificateIsWarnedOf() {
        assertThat(problems(LISTENER, END.plusSeconds(1)))
                .containsExactly(
                        "test.yaml:5:40: warning: certFile: the certificate of CN=server.test expired at " + END);
    }

    @Test
    void aCertificateThatIsNotValidYetIsWarnedOf() {
        assertThat(problems(LISTENER, BEGIN)).isEmpty();
        assertThat(problems(LISTENER, BEGIN.minusSeconds(1)))
                .containsExactly(
                        "test.yaml:5:40: warning: certFile: the certificate of CN=server.test is not valid before "
                                + BEGIN);
    }

    @Test
    void whatAnUpstreamIsShownIsChecked() {
        String upstream =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - name: app
                    endpoints: [{host: 127.0.0.1, port: 9000}]
                    tls: {caFile: tls/server.crt, certFile: tls/%s.crt, keyFile: tls/%s.key}
                """;
        assertThat(problems(upstream.formatted("server", "server"), BEGIN)).isEmpty();
        assertThat(problems(upstream.formatted("server", "other"), BEGIN))
                .containsExactly(
                        "test.yaml:6:70: keyFile: the key in tls/other.key does not belong to the certificate in"
                                + " tls/server.crt");
        assertThat(problems(upstream.formatted("server", "none"), BEGIN))
                .singleElement()
                .asString()
                .startsWith("test.yaml:6:70: keyFile: ")
                .contains("tls/none.key");
        assertThat(problems(upstream.formatted("expired", "expired"), BEGIN))
                .containsExactly("test.yaml:6:45: warning: certFile: the certificate of CN=expired.test expired at"
                        + " 2020-01-02T00:00:00Z");
        assertThat(problems(upstream.formatted("server", "server"), END.plusSeconds(1)))
                .containsExactly(
                        "test.yaml:6:19: warning: caFile: the certificate of CN=server.test expired at " + END,
                        "test.yaml:6:45: warning: certFile: the certificate of CN=server.test expired at " + END);
    }

    @Test
    void theAuthoritiesOfClientsParentsAndCollectorsAreChecked() {
        assertThat(problems(
                        """
                        listeners:
                          - name: egress
                            port: 3128
                            protocol: HTTPS
                            tls:
                              certificateRefs: [{certFile: tls/server.crt, keyFile: tls/server.key}]
                              clientAuth: required
                              caFile: tls/expired.crt
                        connect:
                          - parentRefs: [{name: egress}]
                            allow: [a.example]
                            parents:
                              - {hosts: ["*"], proxy: "https://proxy.example:3129", tls: {caFile: tls/expired.crt}}
                        otlp: {endpoint: "https://collector.example:4318", caFile: tls/expired.crt}
                        """,
                        BEGIN))
                .extracting(each -> each.replaceAll(": warning: caFile: the certificate of CN=expired.test.*", ""))
                .contains("test.yaml:8:15", "test.yaml:13:75", "test.yaml:14:60");
    }

    private static final Instant LATER = BEGIN.plus(Duration.ofDays(3650));

    private static String withSecond(String certFile, String keyFile) {
        return LISTENER.replace(
                "keyFile: tls/server.key}",
                "keyFile: tls/server.key}, {certFile: " + certFile + ", keyFile: " + keyFile + "}");
    }

    @Test
    void twoKindsOfKeysForOneNameAreFine() {
        assertThat(problems(withSecond("tls/rsa.crt", "tls/rsa.key"), LATER)).isEmpty();
        assertThat(problems(withSecond("tls/other.crt", "tls/other.key"), LATER))
                .isEmpty();
    }

    @Test
    void aCertificateThatNobodyGetsIsWarnedOf() {
        assertThat(problems(withSecond("tls/server.crt", "tls/server.key"), LATER))
                .containsExactly("test.yaml:5:93: warning: certFile: clients that ask for server.test never get this"
                        + " certificate, because tls/server.crt has a key of the same kind (EC P-256) and comes first");
    }

    private static final String BOTH = withSecond("tls/rsa.crt", "tls/rsa.key");

    private static String withSuites(String text, String suites) {
        return text.replace("tls: {", "tls: {ciphers: [" + suites + "], ");
    }

    @Test
    void aKeyThatNoSuiteIsForIsWarnedOfIfNobodyElseServesItsName(@TempDir Path directory) throws Exception {
        assertThat(problems(withSuites(BOTH, "ECDHE-RSA-AES128-GCM-SHA256"), LATER))
                .isEmpty();
        assertThat(problems(withSuites(BOTH, "AES128-GCM-SHA256"), LATER)).isEmpty();
        X509Bundle other = new CertificateBuilder()
                .subject("CN=other.test")
                .addSanDnsName("other.test")
                .addSanDnsName("server.test")
                .ecp256()
                .setIsCertificateAuthority(true)
                .notBefore(BEGIN)
                .notAfter(END)
                .buildSelfSigned();
        Path certificate = Files.writeString(directory.resolve("other.crt"), other.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve("other.key"), other.getPrivateKeyPEM());
        String two = BOTH.replace("tls/server.crt", certificate.toString()).replace("tls/server.key", key.toString());
        assertThat(problems(withSuites(two, "ECDHE-ECDSA-AES128-SHA, ECDHE-RSA-AES128-SHA"), LATER))
                .isEmpty();
        assertThat(problems(withSuites(two, "ECDHE-RSA-AES128-SHA"), LATER))
                .singleElement()
                .asString()
                .endsWith(": warning: certFile: no suite of ciphers is for a key of this kind (EC P-256), so clients of"
                        + " TLS 1.2 that ask for other.test cannot connect: add ECDHE-ECDSA-AES128-GCM-SHA256");
    }

    @Test
    void suitesThatAreForNoKeyAreRefusedIfThereIsOnlyTls12() {
        String neither = "ECDHE-PSK-AES128-CBC-SHA";
        String said = "ciphers: no suite is for a key of the certificates (EC P-256, RSA), so ";
        assertThat(problems(withSuites(BOTH, neither), LATER))
                .containsExactly("test.yaml:5:20: warning: " + said + "clients of TLS 1.2 cannot connect: add"
                        + " ECDHE-ECDSA-AES128-GCM-SHA256, or write minVersion: TLSv1.3");
        assertThat(problems(withSuites(BOTH, neither).replace("ciphers", "maxVersion: TLSv1.2, ciphers"), LATER))
                .containsExactly(
                        "test.yaml:5:41: " + said + "no client can connect: add" + " ECDHE-ECDSA-AES128-GCM-SHA256");
    }

    @Test
    void keyAndCertificateMayStandInOneFile(@TempDir Path directory) throws Exception {
        Path both = directory.resolve("both.pem");
        Files.writeString(
                both,
                Files.readString(TEST_FILES.resolve("tls/server.key"))
                        + Files.readString(TEST_FILES.resolve("tls/server.crt")));
        assertThat(problems(
                        LISTENER.replace("tls/server.crt", both.toString()).replace("tls/server.key", both.toString()),
                        BEGIN))
                .isEmpty();
    }
}
