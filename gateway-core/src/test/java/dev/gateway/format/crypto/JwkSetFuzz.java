package dev.gateway.format.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECPoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Fuzz target: a JSON Web Key Set, which is refused or has strong public keys only, those that it says. */
final class JwkSetFuzz {
    private static final ObjectMapper JSON = new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

    private JwkSetFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        List<String> unusable = new ArrayList<>();
        JwkSet strict = parse(text, null);
        JwkSet lenient = parse(text, unusable);
        unusable.forEach(JwkSetFuzz::checkMessage);
        if (strict != null) {
            assertThat(unusable).isEmpty();
            assertThat(Objects.requireNonNull(lenient)).isEqualTo(strict);
            assertThat(lenient.size()).isEqualTo(strict.size());
        }
        if (lenient == null) {
            return;
        }
        assertThat(lenient.size()).isBetween(1, 100);
        JsonNode written = json(text);
        int found = 0;
        for (String algorithm : JwkSet.ALGORITHMS) {
            for (VerificationKey key : lenient.find(null, algorithm)) {
                assertThat(key.algorithms()).contains(algorithm);
                assertThat(lenient.find(key.id(), algorithm)).contains(key);
                if (written != null) {
                    checkWritten(key, algorithm, written.path("keys"));
                }
                check(key);
                found++;
            }
        }
        assertThat(found).isGreaterThanOrEqualTo(lenient.size());
    }

    private static @Nullable JwkSet parse(String text, @Nullable List<String> unusable) {
        try {
            return unusable == null ? JwkSet.parse("keys", text) : JwkSet.parse("keys", text, unusable::add);
        } catch (IOException e) {
            checkMessage(String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static void checkMessage(String message) {
        assertThat(message.chars().noneMatch(Character::isISOControl))
                .as(message)
                .isTrue();
    }

    private static @Nullable JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            return null; // jose4j reads some texts that are not quite JSON
        }
    }

    /** One of the objects has the key, says that it is for this, and is not private. */
    private static void checkWritten(VerificationKey key, String algorithm, JsonNode keys) {
        boolean isThere = false;
        for (JsonNode each : keys) {
            isThere |= String.valueOf(key.id()).equals(each.path("kid").asText("null"))
                    && !each.has("d")
                    && each.path("use").asText("sig").equals("sig")
                    && each.path("alg").asText(algorithm).equals(algorithm)
                    && each.path("kty").asText().equals(kind(key));
        }
        assertThat(isThere).isTrue();
    }

    private static String kind(VerificationKey key) {
        return key.key() instanceof RSAPublicKey ? "RSA" : key.key() instanceof ECPublicKey ? "EC" : "OKP";
    }

    private static void check(VerificationKey key) {
        String again;
        if (key.key() instanceof RSAPublicKey rsa) {
            assertThat(rsa.getModulus().bitLength()).isBetween(2048, 8192);
            assertThat(rsa.getPublicExponent()).isGreaterThanOrEqualTo(BigInteger.valueOf(3));
            again = "\"kty\":\"RSA\",\"n\":\"" + base64(rsa.getModulus(), 0) + "\",\"e\":\""
                    + base64(rsa.getPublicExponent(), 0) + "\"";
        } else if (key.key() instanceof ECPublicKey ec) {
            int bits = ec.getParams().getCurve().getField().getFieldSize();
            checkPoint(ec);
            again = "\"kty\":\"EC\",\"crv\":\"P-" + bits + "\",\"x\":\""
                    + base64(ec.getW().getAffineX(), (bits + 7) / 8) + "\",\"y\":\""
                    + base64(ec.getW().getAffineY(), (bits + 7) / 8) + "\"";
        } else {
            boolean isLarge = ((EdECPublicKey) key.key()).getParams().getName().equals("Ed448");
            byte[] encoded = key.key().getEncoded();
            byte[] point = Arrays.copyOfRange(encoded, encoded.length - (isLarge ? 57 : 32), encoded.length);
            again = "\"kty\":\"OKP\",\"crv\":\"" + (isLarge ? "Ed448" : "Ed25519") + "\",\"x\":\""
                    + Base64.getUrlEncoder().withoutPadding().encodeToString(point) + "\"";
        }
        JwkSet set = Objects.requireNonNull(parse("{\"keys\":[{" + again + "}]}", null), again);
        assertThat(set.find(null, key.algorithms().iterator().next()).get(0).key())
                .isEqualTo(key.key());
    }

    /** The point satisfies the equation of its curve, in other steps than those of the parser. */
    private static void checkPoint(ECPublicKey key) {
        ECPoint point = key.getW();
        BigInteger prime = ((ECFieldFp) key.getParams().getCurve().getField()).getP();
        BigInteger x = point.getAffineX();
        BigInteger cube = x.modPow(BigInteger.valueOf(3), prime);
        BigInteger right = cube.add(key.getParams().getCurve().getA().multiply(x))
                .add(key.getParams().getCurve().getB())
                .mod(prime);
        assertThat(point.getAffineY().modPow(BigInteger.TWO, prime)).isEqualTo(right);
        assertThat(x.signum() >= 0 && x.compareTo(prime) < 0).isTrue();
    }

    private static String base64(BigInteger number, int length) {
        byte[] bytes = number.toByteArray();
        int start = bytes[0] == 0 && bytes.length > 1 ? 1 : 0;
        byte[] padded = new byte[Math.max(length, bytes.length - start)];
        System.arraycopy(bytes, start, padded, padded.length - (bytes.length - start), bytes.length - start);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(padded);
    }
}
