package dev.gateway.config.yaml.check;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.pem.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

/** Reads certificates and keys from PEM files. */
final class Pem {
    private static final int MAX_MEBIBYTES = 1;

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
        try {
            return PrivateKeys.parse(text, file);
        } catch (InvalidKeyException e) {
            throw new InvalidException(String.valueOf(e.getMessage()));
        }
    }
}
