package dev.gateway.format.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CertificatesTest {
    private static final Path FILES = Path.of("../gateway-core/src/test/resources/tls");
    private static final Path FILE = Path.of("any.crt");

    private static byte[] bytes(String name) throws Exception {
        return Files.readAllBytes(FILES.resolve(name));
    }

    @Test
    void aChainKeepsItsOrder() throws Exception {
        ByteArrayOutputStream chain = new ByteArrayOutputStream();
        chain.writeBytes("subject=CN = server.test\n".getBytes(StandardCharsets.US_ASCII));
        chain.writeBytes(bytes("server.crt"));
        chain.writeBytes(bytes("expired.crt"));
        assertThat(Certificates.parse(chain.toByteArray(), FILE))
                .extracting(each -> each.getSubjectX500Principal().getName())
                .containsExactly("CN=server.test", "CN=expired.test");
    }

    @Test
    void whatToolsWriteInDerIsRead() throws Exception {
        X509Certificate certificate =
                Certificates.parse(bytes("server.crt"), FILE).get(0);
        assertThat(Certificates.parse(certificate.getEncoded(), FILE)).containsExactly(certificate);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "anything", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"})
    void aFileWithoutCertificateIsRefused(String text) {
        assertThatThrownBy(() -> Certificates.parse(text.getBytes(StandardCharsets.US_ASCII), FILE))
                .isInstanceOf(CertificateException.class)
                .hasMessage("no certificate in any.crt: expected '-----BEGIN CERTIFICATE-----' (PEM)");
    }

    @Test
    void aCertificateThatIsDamagedIsRefused() {
        String text = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assertThatThrownBy(() -> Certificates.parse(text.getBytes(StandardCharsets.US_ASCII), FILE))
                .isInstanceOf(CertificateException.class)
                .hasMessageStartingWith("a certificate in any.crt cannot be decoded: ");
    }

    private static final String PARAMETERS =
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

    /** What HAProxy, cert-manager's combined form and others have in one file. */
    static Stream<List<String>> orders() throws Exception {
        String leaf = new String(bytes("server.crt"), StandardCharsets.US_ASCII);
        String chain = new String(bytes("expired.crt"), StandardCharsets.US_ASCII);
        String key = new String(bytes("server.key"), StandardCharsets.US_ASCII);
        return Stream.of(
                List.of(key, leaf, chain),
                List.of(leaf, key, chain),
                List.of(leaf, chain, key),
                List.of("Bag Attributes\n", PARAMETERS, key, leaf, "issuer=-----\n", chain),
                List.of(leaf.replace("\n", "\r\n"), key, PARAMETERS, chain.stripTrailing()));
    }

    @ParameterizedTest
    @MethodSource("orders")
    void keyAndCertificatesAreReadFromOneFileInAnyOrder(List<String> blocks) throws Exception {
        String text = String.join("", blocks);
        List<X509Certificate> certificates = Certificates.parse(text.getBytes(StandardCharsets.US_ASCII), FILE);
        assertThat(certificates)
                .extracting(each -> each.getSubjectX500Principal().getName())
                .containsExactly("CN=server.test", "CN=expired.test");
        assertThat(PrivateKeys.belongTogether(certificates.get(0).getPublicKey(), PrivateKeys.parse(text, FILE)))
                .isTrue();
    }

    @Test
    void aCertificateThatWasCutOffIsRefusedBesideAKey() throws Exception {
        String leaf = new String(bytes("server.crt"), StandardCharsets.US_ASCII);
        String text = leaf.substring(0, leaf.length() / 2) + new String(bytes("server.key"), StandardCharsets.US_ASCII);
        assertThatThrownBy(() -> Certificates.parse(text.getBytes(StandardCharsets.US_ASCII), FILE))
                .isInstanceOf(CertificateException.class)
                .hasMessageStartingWith("a certificate in any.crt cannot be decoded: ");
    }
}
