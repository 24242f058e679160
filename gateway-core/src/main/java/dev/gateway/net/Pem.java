package dev.gateway.net;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Reads certificates and private keys from PEM files (RFC 7468). Configuration time only. */
final class Pem {
    private static final byte[] RSA = {
        0x30, 13, 6, 9, 0x2A, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xF7, 13, 1, 1, 1, 5, 0
    };
    private static final byte[] EC_PUBLIC_KEY = {6, 7, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 2, 1};
    private static final byte[] VERSION_0 = {2, 1, 0};

    private Pem() {}

    /** Reads all certificates of a file, in their order; at least one. */
    static X509Certificate[] certificates(Path file) throws IOException, GeneralSecurityException {
        X509Certificate[] chain;
        try {
            chain =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)))
                            .stream()
                            .map(X509Certificate.class::cast)
                            .toArray(X509Certificate[]::new);
        } catch (CertificateException e) {
            throw new CertificateException(file + ": " + e.getMessage(), e);
        }
        if (chain.length == 0) {
            throw new CertificateException("no certificate in " + file);
        }
        return chain;
    }

    /** Reads an unencrypted private key: PKCS#8, PKCS#1 (RSA) or SEC 1 (EC). */
    static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        byte[] der = section(text, "PRIVATE KEY");
        if (der == null) {
            byte[] pkcs1 = section(text, "RSA PRIVATE KEY");
            byte[] sec1 = section(text, "EC PRIVATE KEY");
            if (pkcs1 != null) {
                der = pkcs8(RSA, pkcs1);
            } else if (sec1 != null) {
                der = pkcs8(tagged(0x30, concat(EC_PUBLIC_KEY, curve(sec1, file))), sec1);
            } else {
                throw new GeneralSecurityException("no unencrypted private key (PKCS#8, PKCS#1 or SEC 1) in " + file);
            }
        }
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(der);
        GeneralSecurityException failure = new GeneralSecurityException("unknown kind of private key in " + file);
        for (String algorithm : new String[] {"EC", "RSA", "Ed25519"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(spec);
            } catch (GeneralSecurityException e) {
                failure.addSuppressed(e);
            }
        }
        throw failure;
    }

    /** Throws unless the key is that of the certificate. */
    static void requirePair(X509Certificate certificate, PrivateKey key, Path keyFile) throws GeneralSecurityException {
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> key.getAlgorithm();
                };
        byte[] text = {1, 2, 3};
        boolean isPair;
        try {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(text);
            Signature verifier = Signature.getInstance(algorithm);
            verifier.initVerify(certificate.getPublicKey());
            verifier.update(text);
            isPair = verifier.verify(signer.sign());
        } catch (InvalidKeyException | SignatureException e) {
            isPair = false; // a key of another kind
        }
        if (!isPair) {
            throw new GeneralSecurityException("the private key in " + keyFile + " is not that of the certificate");
        }
    }

    private static byte @Nullable [] section(String text, String label) {
        String begin = "-----BEGIN " + label + "-----";
        int start = text.indexOf(begin);
        int end = text.indexOf("-----END " + label + "-----");
        if (start < 0 || end < start) {
            return null;
        }
        try {
            return Base64.getMimeDecoder().decode(text.substring(start + begin.length(), end));
        } catch (IllegalArgumentException e) {
            return null; // such as the headers of an encrypted PKCS#1 key
        }
    }

    /** Wraps a key in PrivateKeyInfo (RFC 5208). */
    private static byte[] pkcs8(byte[] algorithm, byte[] key) {
        return tagged(0x30, concat(VERSION_0, concat(algorithm, tagged(4, key))));
    }

    /** Finds the curve's object identifier: the element tagged [0] of ECPrivateKey (RFC 5915). */
    private static byte[] curve(byte[] sec1, Path file) throws GeneralSecurityException {
        // SEQUENCE { INTEGER 1, OCTET STRING key, [0] { OBJECT IDENTIFIER } ... }
        int at = contentStart(sec1, 0);
        at = end(sec1, at);
        at = end(sec1, at);
        if (at >= sec1.length || (sec1[at] & 0xFF) != 0xA0) {
            throw new GeneralSecurityException(
                    "the EC private key in " + file + " names no curve; convert it to PKCS#8");
        }
        byte[] curve = new byte[end(sec1, at) - contentStart(sec1, at)];
        System.arraycopy(sec1, contentStart(sec1, at), curve, 0, curve.length);
        return curve;
    }

    private static int contentStart(byte[] der, int at) {
        int length = der[at + 1] & 0xFF;
        return at + 2 + (length < 0x80 ? 0 : length & 0x7F);
    }

    private static int end(byte[] der, int at) throws GeneralSecurityException {
        int start = contentStart(der, at);
        long length = der[at + 1] & 0xFF;
        if (length >= 0x80) {
            length = 0;
            for (int i = at + 2; i < start; i++) {
                length = length << 8 | (der[i] & 0xFF);
            }
        }
        if (start + length > der.length) {
            throw new GeneralSecurityException("a private key ends too early");
        }
        return (int) (start + length);
    }

    private static byte[] tagged(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else {
            out.write(0x82);
            out.write(content.length >> 8);
            out.write(content.length);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] both = new byte[a.length + b.length];
        System.arraycopy(a, 0, both, 0, a.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }
}
