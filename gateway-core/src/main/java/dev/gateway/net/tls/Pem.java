package dev.gateway.net.tls;

import dev.gateway.files.InputFile;
import dev.gateway.format.crypto.Certificates;
import dev.gateway.format.crypto.PrivateKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;

/** Reads certificates and private keys from PEM files (RFC 7468). Configuration time only. */
final class Pem {
    private Pem() {}

    /** Reads all certificates of a file, in their order; at least one. */
    static X509Certificate[] certificates(Path file) throws IOException, GeneralSecurityException {
        return Certificates.parse(InputFile.bytes(file), file).toArray(X509Certificate[]::new);
    }

    /** Reads an unencrypted private key: PKCS#8, PKCS#1 (RSA) or SEC 1 (EC). */
    static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
        return PrivateKeys.parse(InputFile.text(file, StandardCharsets.ISO_8859_1), file);
    }

    /** Throws unless the key is that of the certificate. */
    static void requirePair(X509Certificate certificate, PrivateKey key, Path keyFile) throws GeneralSecurityException {
        if (!PrivateKeys.belongTogether(certificate.getPublicKey(), key)) {
            throw new GeneralSecurityException("the private key in " + keyFile + " is not that of the certificate");
        }
    }
}
