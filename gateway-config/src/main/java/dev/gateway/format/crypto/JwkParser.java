package dev.gateway.format.crypto;

import dev.gateway.format.ShownText;
import java.math.BigInteger;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.EllipticCurve;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jose4j.json.JsonUtil;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON Web Key Sets, with jose4j. Keys for other purposes and of other kinds are left out, as RFC 7517, section 5, asks
 * for. The caller decides about a key that is damaged, or too weak. No message shows what may be a secret.
 */
final class JwkParser {
    private static final int MOST_KEYS = 100;
    private static final int LEAST_RSA_BITS = 2048;
    private static final int MOST_RSA_BITS = 8192; // a signature of longer keys takes too much time

    /** The members that the public keys of all kinds are made of. */
    private static final List<String> PUBLIC = List.of("kty", "n", "e", "crv", "x", "y");

    private JwkParser() {}

    /** Loads the library that reads JSON. */
    static void load() {
        JsonUtil.toJson(Map.of());
    }

    /** A key that cannot be used. */
    private static final class UnusableKey extends Exception {
        private static final long serialVersionUID = 1;

        UnusableKey(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Returns the keys, at least one.
     *
     * @param unusable takes a message for each key for signatures that cannot be used; may throw what this method throws
     * @throws IllegalArgumentException that says what is wrong
     */
    static List<VerificationKey> keys(String text, Consumer<String> unusable) {
        List<VerificationKey> keys = new ArrayList<>();
        List<?> written = list(text);
        String problem =
                "it has no key that verifies signatures: expected keys of the kinds RSA, EC or OKP, not for encryption";
        for (int i = 0; i < written.size(); i++) {
            if (!(written.get(i) instanceof Map<?, ?> jwk)) {
                throw new IllegalArgumentException("element " + (i + 1) + " of 'keys' is not an object");
            }
            try {
                VerificationKey key = key(name(i + 1, jwk), jwk);
                if (key != null) {
                    keys.add(key);
                }
            } catch (UnusableKey e) {
                problem = String.valueOf(e.getMessage());
                unusable.accept(problem);
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException(problem);
        }
        return keys;
    }

    private static List<?> list(String text) {
        Map<String, Object> set;
        try {
            set = JsonUtil.parseJson(text);
        } catch (JoseException | RuntimeException e) {
            throw new IllegalArgumentException(
                    "not a JSON Web Key Set: it is not a JSON object, or has a name twice", e);
        }
        if (!(set.get("keys") instanceof List<?> keys)) {
            throw new IllegalArgumentException("not a JSON Web Key Set: expected an object with the list 'keys'");
        }
        if (keys.size() > MOST_KEYS) {
            throw new IllegalArgumentException("it has " + keys.size() + " keys: expected at most " + MOST_KEYS);
        }
        return keys;
    }

    private static String name(int number, Map<?, ?> jwk) {
        return jwk.get("kid") instanceof String id
                ? "key " + number + " (" + ShownText.shorten(id) + ")"
                : "key " + number;
    }

    /** Returns a key, null if it is not one for signatures, or of a kind that is not known. */
    private static @Nullable VerificationKey key(String name, Map<?, ?> jwk) throws UnusableKey {
        Set<String> algorithms = algorithms(jwk);
        if (jwk.containsKey("alg")) {
            algorithms.removeIf(each -> !each.equals(jwk.get("alg")));
        }
        if (algorithms.isEmpty() || !isForSignatures(jwk)) {
            return null;
        }
        if (jwk.containsKey("d")) {
            throw new IllegalArgumentException(name + " is a private key: write public keys only");
        }
        if (jwk.containsKey("kid") && !(jwk.get("kid") instanceof String)) {
            throw new UnusableKey(name + ": its kid is not a string", null);
        }
        PublicKey key = publicKey(name, jwk);
        if (key instanceof RSAPublicKey rsa) {
            int bits = rsa.getModulus().bitLength();
            if (bits < LEAST_RSA_BITS || bits > MOST_RSA_BITS) {
                throw new UnusableKey(
                        name + " has " + bits + " bits: expected " + LEAST_RSA_BITS + " to " + MOST_RSA_BITS, null);
            }
        }
        return new VerificationKey(jwk.get("kid") instanceof String id ? id : null, algorithms, key);
    }

    private static Set<String> algorithms(Map<?, ?> jwk) {
        // Only a string becomes text: a value that is nested very deep would take too much stack.
        String curve = jwk.get("crv") instanceof String name ? name : "";
        List<String> found = List.of();
        if ("RSA".equals(jwk.get("kty"))) {
            found = List.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512");
        } else if ("EC".equals(jwk.get("kty"))) {
            found = switch (curve) {
                case "P-256" -> List.of("ES256");
                case "P-384" -> List.of("ES384");
                case "P-521" -> List.of("ES512");
                default -> List.of();
            };
        } else if ("OKP".equals(jwk.get("kty")) && (curve.equals("Ed25519") || curve.equals("Ed448"))) {
            found = List.of("EdDSA");
        }
        return new LinkedHashSet<>(found);
    }

    private static boolean isForSignatures(Map<?, ?> jwk) {
        boolean use = !jwk.containsKey("use") || "sig".equals(jwk.get("use"));
        boolean operations =
                !jwk.containsKey("key_ops") || (jwk.get("key_ops") instanceof List<?> list && list.contains("verify"));
        return use && operations;
    }

    private static PublicKey publicKey(String name, Map<?, ?> jwk) throws UnusableKey {
        Map<String, Object> members = new HashMap<>();
        for (String member : PUBLIC) {
            Object value = jwk.get(member);
            if (value != null) {
                members.put(member, value);
            }
        }
        String damaged = name + " is damaged, or not of the kind that kty and crv name";
        try {
            PublicKey key = PublicJsonWebKey.Factory.newPublicJwk(members).getPublicKey();
            if (key instanceof ECPublicKey ec ? isOnCurve(ec) : !(key instanceof EdECPublicKey) || isWhole(jwk)) {
                return key;
            }
        } catch (JoseException | RuntimeException e) { // of values that are not what they should be
            throw new UnusableKey(damaged, e);
        }
        throw new UnusableKey(damaged, null);
    }

    /** Whether y² = x³ + ax + b, which the JDK does not look at. */
    private static boolean isOnCurve(ECPublicKey key) {
        EllipticCurve curve = key.getParams().getCurve();
        BigInteger prime = ((ECFieldFp) curve.getField()).getP();
        BigInteger x = key.getW().getAffineX();
        BigInteger y = key.getW().getAffineY();
        BigInteger right = x.pow(2).add(curve.getA()).multiply(x).add(curve.getB());
        return x.compareTo(prime) < 0
                && y.compareTo(prime) < 0
                && y.pow(2).subtract(right).mod(prime).signum() == 0;
    }

    /** Whether a key of RFC 8037 has the length that its curve asks for. */
    private static boolean isWhole(Map<?, ?> jwk) {
        int length = Base64.getUrlDecoder().decode(String.valueOf(jwk.get("x"))).length;
        return length == ("Ed448".equals(jwk.get("crv")) ? 57 : 32);
    }
}
