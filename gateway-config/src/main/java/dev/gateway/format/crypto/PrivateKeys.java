package dev.gateway.format.crypto;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * PEM private key parser. Reads private keys in PEM (RFC 7468): PKCS#8, PKCS#1 as {@code openssl genrsa -traditional}
 * writes it, and SEC 1 as {@code openssl ecparam -genkey} does, with or without a block of parameters before it.
 */
public final class PrivateKeys {
    private static final Pattern OTHER_KEY = Pattern.compile("-----BEGIN ((?:[A-Z0-9]+ )+PRIVATE KEY)-----");
    private static final Pattern MADE_BY_OPENSSL = Pattern.compile("Proc-Type:\\s*4,\\s*ENCRYPTED");

    private PrivateKeys() {}

    /**
     * Reads the first private key of a text.
     *
     * @param file where the text is from, for messages
     * @throws InvalidKeyException that says what is wrong with it, and what to do
     */
    public static PrivateKey parse(String pem, Path file) throws InvalidKeyException {
        return key(pkcs8(pem, file), file);
    }

    private static byte[] pkcs8(String pem, Path file) throws InvalidKeyException {
        byte[] pkcs8 = section(pem, "PRIVATE KEY", file);
        if (pkcs8 != null) {
            return pkcs8;
        }
        if (pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
                || MADE_BY_OPENSSL.matcher(pem).find()) {
            throw new InvalidKeyException("the key in " + file + " is encrypted: decrypt it with 'openssl pkey -in "
                    + file + " -out NEW', readable by few");
        }
        byte[] pkcs1 = section(pem, "RSA PRIVATE KEY", file);
        if (pkcs1 != null) {
            return PrivateKeyInfo.ofRsa(pkcs1);
        }
        byte[] sec1 = section(pem, "EC PRIVATE KEY", file);
        if (sec1 != null) {
            byte[] info = PrivateKeyInfo.ofEc(sec1, section(pem, "EC PARAMETERS", file));
            if (info == null) {
                throw new InvalidKeyException("the EC key in " + file
                        + " names no curve: make a new one with 'openssl ecparam -name prime256v1 -genkey'");
            }
            return info;
        }
        Matcher other = OTHER_KEY.matcher(pem);
        if (other.find()) {
            throw new InvalidKeyException(file + " holds a key of a type that TLS does not support (" + other.group(1)
                    + "): expected one of RSA, EC or EdDSA in PKCS#8, PKCS#1 or SEC 1");
        }
        throw new InvalidKeyException("no key in " + file + ": expected '-----BEGIN PRIVATE KEY-----' (PEM)");
    }

    /** Returns the bytes between a label's lines, or null if the text has no such lines. */
    private static byte @Nullable [] section(String pem, String label, Path file) throws InvalidKeyException {
        String begin = "-----BEGIN " + label + "-----";
        int start = pem.indexOf(begin);
        int end = pem.indexOf("-----END " + label + "-----", Math.max(start, 0));
        if (start < 0) {
            return null;
        }
        if (end < 0) {
            throw new InvalidKeyException(
                    "the key in " + file + " has no end: '-----END " + label + "-----' is missing");
        }
        String body = pem.substring(start + begin.length(), end).replaceAll("\\s", "");
        try {
            return Base64.getDecoder().decode(body);
        } catch (IllegalArgumentException e) {
            throw new InvalidKeyException("the key in " + file + " is not valid base64", e);
        }
    }

    private static PrivateKey key(byte[] pkcs8, Path file) throws InvalidKeyException {
        List<String> reasons = new ArrayList<>();
        for (String algorithm : List.of("RSA", "EC", "EdDSA", "RSASSA-PSS")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException e) {
                reasons.add(algorithm + ": " + e.getMessage()); // perhaps of another algorithm
            } catch (GeneralSecurityException e) {
                throw new InvalidKeyException("the key in " + file + " cannot be decoded: " + e.getMessage(), e);
            }
        }
        throw new InvalidKeyException("the key in " + file + " is damaged, or neither RSA, EC nor EdDSA ("
                + String.join("; ", reasons) + ")");
    }

    /** Whether a signature made with one key is verified by the other. */
    public static boolean belongTogether(PublicKey publicKey, PrivateKey privateKey) {
        String algorithm =
                switch (privateKey.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "RSASSA-PSS" -> "";
                    case "EC" -> "SHA256withECDSA";
                    default -> privateKey.getAlgorithm();
                };
        if (algorithm.isEmpty()) {
            return publicKey.getAlgorithm().startsWith("RSA"); // the parameters differ by key: left to the handshake
        }
        byte[] sample = "do these belong together?".getBytes(StandardCharsets.US_ASCII);
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(privateKey);
            signature.update(sample);
            byte[] signed = signature.sign();
            signature.initVerify(publicKey);
            signature.update(sample);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false; // keys of different algorithms
        }
    }
}
