package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.HandshakeFailure;
import io.netty.handler.ssl.NotSslRecordException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

/** What is logged of clients that could not be secured. */
class RefusalLogTest {
    @Test
    void whatAClientSentInCleartextIsNotLogged() {
        NotSslRecordException failure = new NotSslRecordException("not an SSL/TLS record: 417574686f72697a6174696f6e");
        assertThat(RefusalLog.describe(HandshakeFailure.CLEARTEXT, failure)).isEqualTo("NotSslRecordException");
    }

    @Test
    void otherFailuresAreTold() {
        SSLException failure = new SSLException("no cipher");
        assertThat(RefusalLog.describe(HandshakeFailure.OTHER, failure)).contains("no cipher");
    }

    @Test
    void theLastCauseIsTold() {
        SSLException failure =
                new SSLException("General OpenSslEngine problem", new CertificateException("expired yesterday"));
        assertThat(RefusalLog.describe(HandshakeFailure.CLIENT_CERTIFICATE, failure))
                .isEqualTo("java.security.cert.CertificateException: expired yesterday");
    }
}
