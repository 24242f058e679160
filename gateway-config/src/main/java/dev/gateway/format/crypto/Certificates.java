package dev.gateway.format.crypto;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Certificate parser: reads certificates (X.509) in PEM (RFC 7468), or in DER, which some tools write unasked. A PEM file may
 * hold the key and other blocks, too, in any order.
 */
public final class Certificates {
    private static final String BEGIN = "-----BEGIN CERTIFICATE-----";
    private static final Set<String> LABELS = Set.of("CERTIFICATE", "X509 CERTIFICATE");

    private Certificates() {}

    /**
     * Reads all certificates of a file, in their order; at least one.
     *
     * @param file where the bytes are from, for messages
     * @throws CertificateException that says what is wrong
     */
    public static List<X509Certificate> parse(byte[] bytes, Path file) throws CertificateException {
        List<X509Certificate> certificates = new ArrayList<>();
        try {
            for (Certificate each : CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(PemBlocks.of(bytes, LABELS)))) {
                certificates.add((X509Certificate) each);
            }
        } catch (CertificateException e) {
            throw new String(bytes, StandardCharsets.ISO_8859_1).contains(BEGIN)
                    ? new CertificateException("a certificate in " + file + " cannot be decoded: " + e.getMessage(), e)
                    : none(file);
        }
        if (certificates.isEmpty()) {
            throw none(file);
        }
        return certificates;
    }

    private static CertificateException none(Path file) {
        return new CertificateException("no certificate in " + file + ": expected '" + BEGIN + "' (PEM)");
    }
}
