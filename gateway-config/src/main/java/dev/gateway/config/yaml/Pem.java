package dev.gateway.config.yaml;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and keys from PEM files. */
final class Pem {
    private static final int MAX_MEBIBYTES = 1;
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----\\s+([A-Za-z0-9+/=\\s]+?)-----END PRIVATE KEY-----");
    private static final Pattern OTHER_KEY = Pattern.compile("-----BEGIN ((RSA|EC|DSA|OPENSSH) PRIVATE KEY)-----");

    private Pem() {}

    /** Returns all certificates of a file, at least one. */
    static List<X509Certificate> certificates(Path file) throws InvalidException {
        String text = TextFiles.read(file, StandardCharsets.ISO_8859_1, MAX_MEBIBYTES);
        if (!text.contains("-----BEGIN CERTIFICATE-----")) {
            throw new InvalidException("no certificate in " + file + ": expected '-----BEGIN CERTIFICATE-----' (PEM)");
        }
        try {
            List<X509Certificate> certificates = new ArrayList<>();
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            for (Certificate each :
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(bytes))) {
                certificates.add((X509Certificate) each);
            }
            return certificates;
        } catch (CertificateException e) {
            throw new InvalidException("a certificate in " + file + " cannot be decoded: " + e.getMessage());
        }
    }

    static PrivateKey privateKey(Path file) throws InvalidException {
        String text = TextFiles.read(file, StandardCharsets.ISO_8859_1, MAX_MEBIBYTES);
        Matcher key = KEY.matcher(text);
        if (!key.find()) {
            throw new InvalidException(noKey(file, text));
        }
        byte[] encoded;
        try {
            encoded = Base64.getMimeDecoder().decode(key.group(1));
        } catch (IllegalArgumentException e) {
            throw new InvalidException("the key in " + file + " is not valid base64");
        }
        List<String> reasons = new ArrayList<>();
        for (String algorithm : List.of("RSA", "EC", "EdDSA", "RSASSA-PSS")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
            } catch (InvalidKeySpecException e) {
                reasons.add(algorithm + ": " + e.getMessage()); // perhaps of another algorithm
            } catch (GeneralSecurityException e) {
                throw new InvalidException("the key in " + file + " cannot be decoded: " + e.getMessage());
            }
        }
        throw new InvalidException("the key in " + file + " is damaged, or neither RSA, EC nor EdDSA ("
                + String.join("; ", reasons) + ")");
    }

    /** Whether a signature made with one key is verified by the other. */
    static boolean belongTogether(PublicKey publicKey, PrivateKey privateKey) {
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

    private static String noKey(Path file, String text) {
        Matcher other = OTHER_KEY.matcher(text);
        if (other.find()) {
            return file + " holds a key in another form (" + other.group(1)
                    + "): convert it with 'openssl pkcs8 -topk8 -nocrypt -in " + file + " -out NEW'";
        }
        if (text.contains("BEGIN ENCRYPTED PRIVATE KEY")) {
            return "the key in " + file + " is encrypted: decrypt it with 'openssl pkcs8 -in " + file
                    + " -out NEW', readable by few";
        }
        return "no key in " + file + ": expected '-----BEGIN PRIVATE KEY-----' (PEM, PKCS#8)";
    }
}
