package dev.gateway.config.yaml.check;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.format.crypto.Certificates;
import dev.gateway.format.crypto.PrivateKeys;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;

/** Reads certificates and keys from files as the gateway does when it starts. */
final class PemFiles {
    private static final int MAX_MEBIBYTES = 1;

    private PemFiles() {}

    /** Returns all certificates of a file, at least one. */
    static List<X509Certificate> certificates(Path file) throws InvalidException {
        String text = TextFiles.read(file, StandardCharsets.ISO_8859_1, MAX_MEBIBYTES);
        try {
            return Certificates.parse(text.getBytes(StandardCharsets.ISO_8859_1), file);
        } catch (CertificateException e) {
            throw new InvalidException(String.valueOf(e.getMessage()));
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
