package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.crypto.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;

/** What the JDK's parser, which shares no code with what makes a certificate, sees in it. */
class SelfSignedCertificateTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    private SelfSignedCertificate make(Instant notAfter) throws Exception {
        return SelfSignedCertificate.make(
                "CN=one,O=Some organization",
                now.minus(DAY),
                notAfter,
                List.of("localhost", "*.example.org"),
                List.of(InetAddress.getByName("127.0.0.1"), InetAddress.getByName("2001:db8::1")));
    }

    private static X509Certificate parse(SelfSignedCertificate made) throws Exception {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(
                        new ByteArrayInputStream(made.certificatePem().getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void itSaysWhoItIsOfAndForHowLong() throws Exception {
        X509Certificate certificate = parse(make(now.plus(DAY)));
        assertThat(certificate.getVersion()).isEqualTo(3);
        assertThat(certificate.getSubjectX500Principal()).isEqualTo(new X500Principal("CN=one,O=Some organization"));
        assertThat(certificate.getIssuerX500Principal()).isEqualTo(certificate.getSubjectX500Principal());
        assertThat(certificate.getNotBefore()).isEqualTo(now.minus(DAY));
        assertThat(certificate.getNotAfter()).isEqualTo(now.plus(DAY));
        assertThat(certificate.getSubjectAlternativeNames().stream().map(List::toString))
                .containsExactly("[2, localhost]", "[2, *.example.org]", "[7, 127.0.0.1]", "[7, 2001:db8:0:0:0:0:0:1]");
    }

    /** RFC 5280, 4.1.2.5: the year has two digits until 2049, and four from 2050 on. */
    @Test
    void itMayEndInAnotherHalfOfACentury() throws Exception {
        for (String end : List.of("2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z")) {
            assertThat(parse(make(Instant.parse(end))).getNotAfter()).isEqualTo(end);
        }
    }

    @Test
    void itIsOfAServerAndOfNoOtherAuthority() throws Exception {
        X509Certificate certificate = parse(make(now.plus(DAY)));
        assertThat(certificate.getBasicConstraints()).isZero();
        assertThat(certificate.getKeyUsage())
                .containsExactly(true, false, false, false, false, true, false, false, false);
        assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1"); // a server of TLS
        assertThat(certificate.getCriticalExtensionOIDs())
                .containsExactlyInAnyOrder("2.5.29.19", "2.5.29.15"); // basic constraints, key usage
    }

    @Test
    void itsKeyHasSignedIt() throws Exception {
        SelfSignedCertificate made = make(now.plus(DAY));
        X509Certificate certificate = parse(made);
        certificate.verify(certificate.getPublicKey());
        assertThat(certificate.getSigAlgName()).isEqualTo("SHA256withECDSA");
        assertThat(((ECPublicKey) certificate.getPublicKey())
                        .getParams()
                        .getOrder()
                        .bitLength())
                .isEqualTo(256);
        assertThat(PrivateKeys.belongTogether(
                        certificate.getPublicKey(), PrivateKeys.parse(made.keyPem(), Path.of("made"))))
                .isTrue();
    }

    @Test
    void whoTrustsItNeedsNothingElse() throws Exception {
        X509Certificate certificate = parse(make(now.plus(DAY)));
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("it", certificate);
        PKIXParameters parameters = new PKIXParameters(trusted);
        parameters.setRevocationEnabled(false);
        assertThat(CertPathValidator.getInstance("PKIX")
                        .validate(
                                CertificateFactory.getInstance("X.509").generateCertPath(List.of(certificate)),
                                parameters))
                .isNotNull();
    }

    /** RFC 5280, 4.1.2.2: positive and of at most 20 bytes; each certificate of an issuer has another. */
    @Test
    void serialNumbersArePositiveAndDiffer() throws Exception {
        Set<BigInteger> serials = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            BigInteger serial = parse(make(now.plus(DAY))).getSerialNumber();
            assertThat(serial).isPositive();
            assertThat(serial.toByteArray()).hasSizeLessThanOrEqualTo(20);
            serials.add(serial);
        }
        assertThat(serials).hasSize(50);
    }

    @Test
    void itsFilesHaveShortLines() throws Exception {
        SelfSignedCertificate made = make(now.plus(DAY));
        assertThat(made.certificatePem())
                .matches("-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=]{1,64}\n)+-----END CERTIFICATE-----\n");
        assertThat(made.keyPem())
                .matches("-----BEGIN PRIVATE KEY-----\n([A-Za-z0-9+/=]{1,64}\n)+-----END PRIVATE KEY-----\n");
    }
}
