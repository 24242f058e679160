package dev.gateway.filter.certificate;

import dev.gateway.stream.ConnectionInfo;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Certificate of a connection as filters need it: its names, and the fields that tell upstreams of it (RFC 9440). Each is made
 * once for a connection, when the first filter needs it. Confined to the connection's event loop.
 */
public final class PresentedCertificate {
    private static final int NOT_KNOWN = -1;

    private final List<X509Certificate> certificates;
    private @Nullable PresentedNames names;
    private int certificateLength = NOT_KNOWN;
    private int chainLength = NOT_KNOWN;
    private @Nullable AsciiString certificate;
    private @Nullable AsciiString chain;

    /**
     * Makes it.
     *
     * @param certificates the client's own first
     */
    public PresentedCertificate(List<X509Certificate> certificates) {
        this.certificates = certificates;
    }

    /** Returns its names. */
    public PresentedNames names() {
        PresentedNames read = names;
        if (read == null) {
            read = PresentedNames.of(certificates.get(0));
            names = read;
        }
        return read;
    }

    /** Returns the length of the value of {@code Client-Cert}. */
    public int certificateLength() throws CertificateEncodingException {
        if (certificateLength == NOT_KNOWN) {
            certificateLength = length(certificates.subList(0, 1));
        }
        return certificateLength;
    }

    /** Returns the length of the value of {@code Client-Cert-Chain}; 0 if the client sent only its own certificate. */
    public int chainLength() throws CertificateEncodingException {
        if (chainLength == NOT_KNOWN) {
            chainLength = length(certificates.subList(1, certificates.size()));
        }
        return chainLength;
    }

    /** Returns the value of {@code Client-Cert}. */
    public AsciiString certificate(ConnectionInfo connection) throws CertificateEncodingException {
        AsciiString made = certificate;
        if (made == null) {
            made = list(certificates.subList(0, 1), certificateLength());
            certificate = made;
            connection.chargeClientChain(made.length());
        }
        return made;
    }

    /** Returns the value of {@code Client-Cert-Chain}, empty if the client sent only its own certificate. */
    public AsciiString chain(ConnectionInfo connection) throws CertificateEncodingException {
        AsciiString made = chain;
        if (made == null) {
            made = list(certificates.subList(1, certificates.size()), chainLength());
            chain = made;
            connection.chargeClientChain(made.length());
        }
        return made;
    }

    private static int length(List<X509Certificate> certificates) throws CertificateEncodingException {
        int length = 0;
        for (X509Certificate each : certificates) {
            length += (length == 0 ? 0 : 2) + 2 + (each.getEncoded().length + 2) / 3 * 4;
        }
        return length;
    }

    /** Returns a list of byte sequences (RFC 9651, sections 3.1 and 3.3.5). */
    private static AsciiString list(List<X509Certificate> certificates, int length)
            throws CertificateEncodingException {
        StringBuilder list = new StringBuilder(length);
        for (X509Certificate each : certificates) {
            String encoded = Base64.getEncoder().encodeToString(each.getEncoded());
            list.append(list.length() == 0 ? ":" : ", :").append(encoded).append(':');
        }
        return new AsciiString(list.toString().getBytes(StandardCharsets.US_ASCII), false);
    }
}
