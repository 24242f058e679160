package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.HandshakeFailure;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The words that TLS libraries have for failed handshakes are told apart. */
class HandshakeFailuresTest {
    @ParameterizedTest
    @CsvSource({
        "error:10000416:SSL routines:OPENSSL_internal:SSLV3_ALERT_CERTIFICATE_UNKNOWN, CERTIFICATE_REFUSED",
        "error:10000418:SSL routines:OPENSSL_internal:TLSV1_ALERT_UNKNOWN_CA, CERTIFICATE_REFUSED",
        "Received fatal alert: certificate_expired, CERTIFICATE_REFUSED",
        "error:100000f0:SSL routines:OPENSSL_internal:UNSUPPORTED_PROTOCOL, PROTOCOL_VERSION",
        "Client requested protocol TLSv1 is not enabled or supported in server context, PROTOCOL_VERSION",
        "error:100000b8:SSL routines:OPENSSL_internal:NO_SHARED_CIPHER, CIPHER",
        "no cipher suites in common, CIPHER",
        "error:100000c0:SSL routines:OPENSSL_internal:PEER_DID_NOT_RETURN_A_CERTIFICATE, CLIENT_CERTIFICATE",
        "Empty client certificate chain, CLIENT_CERTIFICATE",
        "error:10000094:SSL routines:OPENSSL_internal:EXCESSIVE_MESSAGE_SIZE, CLIENT_CERTIFICATE",
        "Received fatal alert: internal_error, OTHER",
        "something new, OTHER"
    })
    void wordsAreUnderstood(String message, HandshakeFailure reason) {
        assertThat(HandshakeFailures.of(new DecoderException(new SSLHandshakeException(message))))
                .isEqualTo(reason);
    }

    @Test
    void kindsAreUnderstood() {
        assertThat(HandshakeFailures.of(new ClosedChannelException())).isEqualTo(HandshakeFailure.CLOSED);
        assertThat(HandshakeFailures.of(new IOException("Connection reset by peer")))
                .isEqualTo(HandshakeFailure.CLOSED);
        assertThat(HandshakeFailures.of(new DecoderException(new NotSslRecordException("not an SSL/TLS record"))))
                .isEqualTo(HandshakeFailure.CLEARTEXT);
        assertThat(HandshakeFailures.of(
                        new SSLException("General OpenSslEngine problem", new CertificateException("x"))))
                .isEqualTo(HandshakeFailure.CLIENT_CERTIFICATE);
        assertThat(HandshakeFailures.of(new RefusedHandshakeException(HandshakeFailure.SERVER_NAME)))
                .isEqualTo(HandshakeFailure.SERVER_NAME);
        assertThat(HandshakeFailures.of(new IllegalStateException())).isEqualTo(HandshakeFailure.OTHER);
    }
}
