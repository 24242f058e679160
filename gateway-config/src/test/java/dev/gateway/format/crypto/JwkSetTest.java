package dev.gateway.format.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which keys of a set are used, and what is said of one that cannot be. */
class JwkSetTest {
    private static final PublicKey RSA = make("RSA", 2048, "");
    private static final PublicKey EC = make("EC", 0, "secp256r1");

    /** The key of RFC 8037, appendix A.2. */
    private static final String ED25519 =
            "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"";

    private static PublicKey make(String kind, int bits, String curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(kind);
            if (bits > 0) {
                generator.initialize(bits);
            } else {
                generator.initialize(new ECGenParameterSpec(curve));
            }
            return generator.generateKeyPair().getPublic();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String base64(byte[] bytes, int length) {
        byte[] padded = new byte[length];
        int copied = Math.min(length, bytes.length);
        System.arraycopy(bytes, bytes.length - copied, padded, length - copied, copied);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(padded);
    }

    private static String rsa(PublicKey key) {
        RSAPublicKey rsa = (RSAPublicKey) key;
        return "\"kty\":\"RSA\",\"n\":\""
                + base64(rsa.getModulus().toByteArray(), rsa.getModulus().bitLength() / 8) + "\",\"e\":\"AQAB\"";
    }

    private static String ec() {
        ECPublicKey ec = (ECPublicKey) EC;
        return "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
                + base64(ec.getW().getAffineX().toByteArray(), 32) + "\",\"y\":\""
                + base64(ec.getW().getAffineY().toByteArray(), 32) + "\"";
    }

    private static JwkSet parse(String... keys) throws IOException {
        return JwkSet.parse("keys.json", "{\"keys\":[{" + String.join("},{", keys) + "}]}");
    }

    @Test
    void aKeyVerifiesTheSignaturesOfItsKind() throws IOException {
        JwkSet set = parse("\"kid\":\"r\"," + rsa(RSA), "\"kid\":\"e\",\"use\":\"sig\"," + ec(), ED25519);
        for (String algorithm : JwkSet.ALGORITHMS) {
            List<PublicKey> keys =
                    set.find(null, algorithm).stream().map(VerificationKey::key).toList();
            if (algorithm.matches("[RP]S.*")) {
                assertThat(keys).as(algorithm).containsExactly(RSA);
            } else if (algorithm.equals("ES256")) {
                assertThat(keys).containsExactly(EC);
            } else {
                assertThat(keys).as(algorithm).hasSize(algorithm.equals("EdDSA") ? 1 : 0);
            }
        }
        assertThat(set.find("r", "RS256")).hasSize(1);
        assertThat(set.find("e", "RS256")).isEmpty();
        assertThat(set.find("anything", "EdDSA")).as("it has no id").hasSize(1);
        assertThat(set.find("r", "HS256")).isEmpty();
        assertThat(set.find("r", "none")).isEmpty();
    }

    @Test
    void aKeyMaySayWhatItIsFor() throws IOException {
        JwkSet set = parse(
                "\"kid\":\"one\",\"alg\":\"PS384\"," + rsa(RSA),
                "\"kid\":\"for encryption\",\"use\":\"enc\"," + rsa(RSA),
                "\"kid\":\"for encryption\",\"alg\":\"RSA-OAEP\"," + rsa(RSA),
                "\"kid\":\"for encryption\",\"key_ops\":[\"encrypt\"]," + rsa(RSA),
                "\"kid\":\"for both\",\"key_ops\":[\"verify\",\"wrapKey\"]," + ec());
        assertThat(set.find("one", "PS384"))
                .extracting(VerificationKey::algorithms)
                .containsExactly(Set.of("PS384"));
        assertThat(set.find("one", "PS256")).isEmpty();
        assertThat(set.find("for encryption", "RS256")).isEmpty();
        assertThat(set.find("for both", "ES256")).hasSize(1);
    }

    @Test
    void keysOfOtherKindsAreLeftOut() throws IOException {
        JwkSet set = parse(
                "\"kty\":\"oct\",\"k\":\"c2VjcmV0\"",
                "\"kty\":\"AKP\",\"pub\":\"AAAA\"",
                "\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AA\",\"y\":\"AA\"",
                "\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08\"",
                "\"x\":1",
                ec());
        assertThat(set.find(null, "ES256")).hasSize(1);
        assertThat(set).hasToString("1 keys");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "|not a JSON Web Key Set: it is not a JSON object, or has a name twice",
                "[]|not a JSON Web Key Set: it is not a JSON object, or has a name twice",
                "-----BEGIN PUBLIC KEY-----|not a JSON Web Key Set: it is not a JSON object, or has a name twice",
                "{\"keys\":[],\"keys\":[]}|not a JSON Web Key Set: it is not a JSON object, or has a name twice",
                "{}|not a JSON Web Key Set: expected an object with the list 'keys'",
                "{\"keys\":{}}|not a JSON Web Key Set: expected an object with the list 'keys'",
                "{\"keys\":[1]}|element 1 of 'keys' is not an object",
                "{\"keys\":[]}|it has no key that verifies signatures: expected keys of the kinds RSA, EC or OKP, not"
                        + " for encryption",
                "{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"}]}|it has no key that verifies signatures: expected"
                        + " keys of the kinds RSA, EC or OKP, not for encryption",
                "{\"keys\":[{\"kty\":\"RSA\",\"n\":1,\"e\":\"AQAB\"}]}|key 1 is damaged, or not of the kind that kty"
                        + " and crv name",
                "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\"}]}|key 1 (a) is damaged, or not of the kind that kty and"
                        + " crv name",
                "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}|key 1 is damaged, or not of"
                        + " the kind that kty and crv name",
                "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"}]}|key 1 is damaged, or not of the kind"
                        + " that kty and crv name",
                "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"b\",\"x\":\"AA\",\"d\":\"SECRET\"}]}|key 1"
                        + " (b) is a private key: write public keys only",
                "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\\u0007\\u009b2J\"}]}|key 1 (a??2J) is damaged, or not of the kind"
                        + " that kty and crv name",
                "{\"keys\":[{\"kty\":\"RSA\",\"kid\":1}]}|key 1: its kid is not a string"
            })
    void whatCannotBeUsedIsSaid(@Nullable String text, String problem) {
        assertThatThrownBy(() -> JwkSet.parse("keys.json", text == null ? "" : text))
                .isInstanceOf(IOException.class)
                .hasMessage("keys.json: " + problem)
                .hasMessageNotContaining("SECRET");
    }

    @Test
    void aKeyIsNeitherTooShortNorTooLong() {
        String problem = "keys.json: key 1 (k) has 1024 bits: expected 2048 to 8192";
        assertThatThrownBy(() -> parse("\"kid\":\"k\"," + rsa(make("RSA", 1024, ""))))
                .hasMessage(problem);
        String many = "\"kty\":\"RSA\",\"n\":\"" + base64(new byte[] {1}, 2000).replace('A', '_') + "\",\"e\":\"AQAB\"";
        assertThatThrownBy(() -> parse("\"kid\":\"k\"," + many)).hasMessageStartingWith("keys.json: key 1 (k) ");
    }

    @Test
    void keysThatCannotBeUsedMayBeLeftOut() throws Exception {
        String[] written = {
            "\"kid\":\"weak\"," + rsa(make("RSA", 1024, "")), "\"kid\":1," + rsa(RSA), "\"kid\":\"good\"," + ec()
        };
        String text = "{\"keys\":[{" + String.join("},{", written) + "}]}";
        List<String> unusable = new ArrayList<>();
        JwkSet set = JwkSet.parse("here", text, unusable::add);
        assertThat(set).hasToString("1 keys");
        assertThat(set.find("good", "ES256")).hasSize(1);
        assertThat(unusable)
                .containsExactly("key 1 (weak) has 1024 bits: expected 2048 to 8192", "key 2: its kid is not a string");
        assertThatThrownBy(() -> JwkSet.parse("here", "{\"keys\":[{" + written[0] + "}]}", unusable::add))
                .hasMessage("here: " + unusable.get(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"kty\":?",
                "\"kty\":\"EC\",\"crv\":?",
                "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":?,\"y\":\"AA\"",
                "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":?",
                "\"kty\":\"RSA\",\"n\":?,\"e\":\"AQAB\"",
                "\"kty\":\"RSA\",\"alg\":?",
                "\"kty\":\"RSA\",\"use\":?",
                "\"kty\":\"RSA\",\"key_ops\":?",
                "\"kty\":\"RSA\",\"kid\":?"
            })
    void aMemberThatIsNestedVeryDeepIsNoKey(String key) {
        String deep = "[".repeat(100_000) + "]".repeat(100_000);
        assertThatThrownBy(() -> parse(key.replace("?", deep))).isInstanceOf(IOException.class);
    }

    @Test
    void aSetHasAHundredKeysAtMost() {
        String[] many = new String[101];
        Arrays.fill(many, ED25519);
        assertThatThrownBy(() -> parse(many)).hasMessage("keys.json: it has 101 keys: expected at most 100");
    }

    @Test
    void setsOfTheSameTextAreTheSame() throws IOException {
        String text = "{\"keys\":[{" + ED25519 + "}]}";
        assertThat(JwkSet.parse("here", text))
                .isEqualTo(JwkSet.parse("there", text))
                .hasSameHashCodeAs(JwkSet.parse("there", text))
                .isNotEqualTo(JwkSet.parse("here", text + " "));
    }
}
