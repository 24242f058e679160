package dev.gateway.format.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.InvalidKeyException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys are read in every form that the usual tools write them in, and the others are told apart. */
class PrivateKeysTest {
    private static final Path KEYS = Path.of("../gateway-core/src/test/resources/tls");
    private static final Path FILE = Path.of("any.key");

    private static PrivateKey read(String name) throws IOException, InvalidKeyException {
        return PrivateKeys.parse(Files.readString(KEYS.resolve(name)), KEYS.resolve(name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sec1.key", "with-parameters.key"})
    void aKeyIsTheSameInWhateverForm(String name) throws Exception {
        assertThat(number(read(name))).isEqualTo(number(read("server.key")));
    }

    private static BigInteger number(PrivateKey key) {
        return ((ECPrivateKey) key).getS();
    }

    @Test
    void pkcs1IsRead() throws Exception {
        assertThat(read("pkcs1.key").getAlgorithm()).isEqualTo("RSA");
    }

    @Test
    void keysOfEverySizeAreRead() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        for (int bits : new int[] {512, 1024}) {
            generator.initialize(bits);
            PrivateKey key = generator.generateKeyPair().getPrivate();
            byte[] pkcs8 = key.getEncoded();
            // The PKCS#1 key is the content of the last element.
            byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 26, pkcs8.length);
            assertThat(pkcs1[0]).isEqualTo((byte) 0x30);
            assertThat(PrivateKeys.parse(pem("RSA PRIVATE KEY", pkcs1), FILE)).isEqualTo(key);
        }
    }

    @Test
    void theCurveMayBeNamedInABlockOfItsOwnOnly() throws Exception {
        byte[] scalar = new byte[32];
        scalar[31] = 5;
        byte[] sec1 = new byte[39];
        byte[] start = {0x30, 37, 2, 1, 1, 4, 32};
        System.arraycopy(start, 0, sec1, 0, start.length);
        System.arraycopy(scalar, 0, sec1, start.length, scalar.length);
        byte[] curve = {6, 8, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 3, 1, 7};
        String key = pem("EC PRIVATE KEY", sec1);
        assertThat(PrivateKeys.parse(pem("EC PARAMETERS", curve) + key, FILE).getAlgorithm())
                .isEqualTo("EC");
        assertThatThrownBy(() -> PrivateKeys.parse(key, FILE))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("names no curve");
    }

    @ParameterizedTest
    @ValueSource(strings = {"encrypted.key", "encrypted-sec1.key"})
    void anEncryptedKeyIsSaidToBeOne(String name) {
        assertThatThrownBy(() -> read(name))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("is encrypted: decrypt it with 'openssl pkey -in ");
    }

    @ParameterizedTest
    @CsvSource({
        "OPENSSH PRIVATE KEY, AAAA, holds a key of a type that TLS does not support (OPENSSH PRIVATE KEY)",
        "DSA PRIVATE KEY, AAAA, holds a key of a type that TLS does not support (DSA PRIVATE KEY)",
        "CERTIFICATE, AAAA, no key in any.key",
        "PRIVATE KEY, A, is not valid base64",
        "PRIVATE KEY, AAAA, is damaged",
        "RSA PRIVATE KEY, MAA=, is damaged",
        "EC PRIVATE KEY, '', names no curve",
        "EC PRIVATE KEY, MAA=, names no curve",
        "EC PRIVATE KEY, MIT/////, names no curve",
        "EC PRIVATE KEY, MAcCAQEEAKAA, names no curve"
    })
    void whatIsNoKeyIsSaidToBeNone(String label, String body, String message) {
        assertThatThrownBy(() -> PrivateKeys.parse(
                        "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n", FILE))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aKeyThatWasCutOffIsSaidToBe() {
        assertThatThrownBy(() -> PrivateKeys.parse("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n", FILE))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("has no end");
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + label
                + "-----\n";
    }
}
