package dev.gateway.observe.metrics.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import java.security.cert.X509Certificate;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** By which name the metrics tell when a certificate ends. */
class CertificateExpiryTest {
    private static final Instant END = Instant.parse("2031-05-06T07:08:09Z");

    private static X509Certificate certificate(CertificateBuilder builder) throws Exception {
        return builder.ecp256()
                .subject("CN=The Shop,O=Example")
                .notBefore(Instant.parse("2020-01-01T00:00:00Z"))
                .notAfter(END)
                .setIsCertificateAuthority(true)
                .buildSelfSigned()
                .getCertificate();
    }

    @Test
    void theFirstDnsNameStandsForACertificate() throws Exception {
        X509Certificate made = certificate(new CertificateBuilder()
                .addSanIpAddress("192.0.2.7")
                .addSanDnsName("shop.example.com")
                .addSanDnsName("www.example.com"));
        assertThat(CertificateExpiry.of("listener", "web", made))
                .isEqualTo(new CertificateExpiry("listener", "web", "shop.example.com", END.getEpochSecond()));
    }

    @Test
    void aCertificateWithoutDnsNamesHasItsSubject() throws Exception {
        assertThat(CertificateExpiry.of("upstream", "app", certificate(new CertificateBuilder()))
                        .name())
                .isEqualTo("CN=The Shop,O=Example");
        assertThat(CertificateExpiry.of(
                                "upstream", "app", certificate(new CertificateBuilder().addSanIpAddress("192.0.2.7")))
                        .name())
                .isEqualTo("CN=The Shop,O=Example");
    }
}
