package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailureTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "bind(..) failed with error(-98): Address already in use|Address already in use",
                "127.0.0.1: finishConnect(..) failed with error(-111): Connection refused|127.0.0.1: Connection refused",
                "Connection reset by peer|Connection reset by peer",
                "failed with error(|failed with error("
            })
    void onlyTheReasonIsLeft(String message, String text) {
        assertThat(FailureText.of(new IOException(message))).isEqualTo(text);
    }

    @Test
    void aCertificateOutsideItsTimeIsToldAsThat() {
        assertThat(FailureText.of(new CertificateExpiredException("NotAfter: yesterday")))
                .isEqualTo("its certificate has expired: NotAfter: yesterday");
        assertThat(FailureText.of(new CertificateNotYetValidException("NotBefore: tomorrow")))
                .isEqualTo("its certificate is not valid yet: NotBefore: tomorrow");
    }

    @Test
    void aMessageThatIsTheCauseHasNoNameOfAClass() {
        assertThat(FailureText.of(new IOException(new IllegalStateException("no certificate has signed that"))))
                .isEqualTo("no certificate has signed that");
    }

    @Test
    void itIsOneLineAndNeverEmpty() {
        assertThat(FailureText.of(new IOException("a\nb"))).isEqualTo("a b");
        assertThat(FailureText.of(new IOException())).isEqualTo("IOException");
    }
}
