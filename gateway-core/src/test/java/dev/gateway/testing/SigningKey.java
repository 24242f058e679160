package dev.gateway.testing;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A key that signs JSON Web Tokens of tests, with the JDK alone, so that it tells what a library gets wrong. */
public final class SigningKey {
    private final String algorithm;
    private final String id;
    private final KeyPair pair;

    private SigningKey(String algorithm, String id, KeyPair pair) {
        this.algorithm = algorithm;
        this.id = id;
        this.pair = pair;
    }

    /**
     * Makes one.
     *
     * @param algorithm of JWS, as RS256; or Ed448 for EdDSA with that curve
     */
    public static SigningKey of(String algorithm, String id) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(
                    switch (algorithm.substring(0, 2)) {
                        case "RS", "PS" -> "RSA";
                        case "ES" -> "EC";
                        default -> algorithm.equals("Ed448") ? "Ed448" : "Ed25519";
                    });
            switch (algorithm) {
                case "ES256" -> generator.initialize(new ECGenParameterSpec("secp256r1"));
                case "ES384" -> generator.initialize(new ECGenParameterSpec("secp384r1"));
                case "ES512" -> generator.initialize(new ECGenParameterSpec("secp521r1"));
                default -> {
                    if (!algorithm.startsWith("Ed")) {
                        generator.initialize(2048);
                    }
                }
            }
            return new SigningKey(algorithm, id, generator.generateKeyPair());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the same key for another algorithm of its kind, or with another name. */
    public SigningKey as(String otherAlgorithm, String otherId) {
        return new SigningKey(otherAlgorithm, otherId, pair);
    }

    public PublicKey publicKey() {
        return pair.getPublic();
    }

    /** Returns the public key as a JSON Web Key, with its id unless that is empty. */
    public String jwk() {
        return "{" + (id.isEmpty() ? "" : "\"kid\":\"" + id + "\",") + members() + "}";
    }

    /** Returns the members that the public key consists of. */
    public String members() {
        PublicKey key = pair.getPublic();
        if (key instanceof RSAPublicKey rsa) {
            return "\"kty\":\"RSA\",\"n\":\"" + number(rsa.getModulus(), 0) + "\",\"e\":\""
                    + number(rsa.getPublicExponent(), 0) + "\"";
        } else if (key instanceof ECPublicKey ec) {
            int length = (ec.getParams().getCurve().getField().getFieldSize() + 7) / 8;
            return "\"kty\":\"EC\",\"crv\":\"P-"
                    + ec.getParams().getCurve().getField().getFieldSize() + "\",\"x\":\""
                    + number(ec.getW().getAffineX(), length) + "\",\"y\":\""
                    + number(ec.getW().getAffineY(), length) + "\"";
        }
        byte[] encoded = key.getEncoded();
        boolean isLarge = algorithm.equals("Ed448");
        return "\"kty\":\"OKP\",\"crv\":\"" + (isLarge ? "Ed448" : "Ed25519") + "\",\"x\":\""
                + base64(Arrays.copyOfRange(encoded, encoded.length - (isLarge ? 57 : 32), encoded.length)) + "\"";
    }

    private static String number(BigInteger number, int length) {
        byte[] bytes = number.toByteArray();
        int start = bytes[0] == 0 ? 1 : 0;
        byte[] padded = new byte[Math.max(length, bytes.length - start)];
        System.arraycopy(bytes, start, padded, padded.length - (bytes.length - start), bytes.length - start);
        return base64(padded);
    }

    /** Returns the JSON Web Key Set of keys. */
    public static String set(SigningKey... keys) {
        return "{\"keys\":[" + Stream.of(keys).map(SigningKey::jwk).collect(Collectors.joining(",")) + "]}";
    }

    /** Returns a signed token with these claims, a JSON object. */
    public String token(String claims) {
        String name = algorithm.startsWith("Ed") ? "EdDSA" : algorithm;
        return token("{\"alg\":\"" + name + "\"" + (id.isEmpty() ? "" : ",\"kid\":\"" + id + "\"") + "}", claims);
    }

    /** Returns a signed token whose header says whatever it says. */
    public String token(String header, String claims) {
        String input = base64(header) + "." + base64(claims);
        return input + "." + base64(sign(input.getBytes(StandardCharsets.US_ASCII)));
    }

    private byte[] sign(byte[] input) {
        try {
            Signature signature = Signature.getInstance(
                    switch (algorithm.substring(0, 2)) {
                        case "RS" -> "SHA" + algorithm.substring(2) + "withRSA";
                        case "PS" -> "RSASSA-PSS";
                        case "ES" -> "SHA" + algorithm.substring(2) + "withECDSAinP1363Format";
                        default -> "EdDSA";
                    });
            signature.initSign(pair.getPrivate());
            if (algorithm.startsWith("PS")) {
                signature.setParameter(pss(Integer.parseInt(algorithm.substring(2))));
            }
            signature.update(input);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static AlgorithmParameterSpec pss(int bits) {
        String hash = "SHA-" + bits;
        return new PSSParameterSpec(hash, "MGF1", new MGF1ParameterSpec(hash), bits / 8, 1);
    }

    /** Returns a token with a symmetric signature, as forgers make it of what is public. */
    public static String hmacToken(String header, String claims, byte[] secret) {
        try {
            String input = base64(header) + "." + base64(claims);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return input + "." + base64(mac.doFinal(input.getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a text in base64url. */
    public static String base64(String text) {
        return base64(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
