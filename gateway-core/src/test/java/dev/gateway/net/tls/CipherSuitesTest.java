package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.schema.listener.CipherSuites;
import io.netty.handler.ssl.OpenSsl;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The configuration accepts the names that the TLS library has, and no others. */
class CipherSuitesTest {
    @Test
    void theNamesAreThoseOfTheLibrary() {
        Set<String> expected = new HashSet<>(OpenSsl.availableOpenSslCipherSuites());
        expected.addAll(OpenSsl.availableJavaCipherSuites());
        expected.removeIf(name -> name.startsWith("SSL_") || name.startsWith("AEAD-")); // spellings that nobody writes
        assertThat(CipherSuites.NAMES).containsExactlyInAnyOrderElementsOf(expected);
    }
}
