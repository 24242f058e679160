package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.schema.listener.CipherSuites;
import io.netty.handler.ssl.OpenSsl;
import java.util.HashSet;
import java.util.List;
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

    /** The choice of a key for a client knows each suite by all of its names, OpenSSL's and the JDK's. */
    @Test
    void eachSuiteIsForOneKindOfKeysOrForNone() {
        for (String name : CipherSuites.NAMES) {
            KeyOffer.Spoken spoken = KeyOffer.Spoken.of(List.of("TLSv1.2"), List.of(name));
            boolean ofTls13 = name.matches("TLS_(AES|CHACHA20)_.*");
            boolean shared = name.contains("PSK");
            boolean ec = name.contains("ECDSA");
            assertThat(spoken.ecSuites()).as(name).hasSize(ec ? 1 : 0);
            assertThat(spoken.rsaSuites()).as(name).hasSize(ec || ofTls13 || shared ? 0 : 1);
        }
    }
}
