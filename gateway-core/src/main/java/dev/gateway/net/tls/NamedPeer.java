package dev.gateway.net.tls;

import dev.gateway.format.IpLiteral;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Trusts a server if authorities do, and if the certificate has the server's name among its subject
 * alternative names (RFC 9525, section 6.3). The JDK also takes the common name, which authorities do not check alike, and
 * asterisks in the middle of a label. Safe from any thread.
 */
final class NamedPeer extends EngineTrustManager {
    private static final int DNS_NAME = 2; // GeneralName, RFC 5280, section 4.2.1.6

    NamedPeer(Authorities authorities) {
        super(authorities);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        authorities.checkServer(chain, authType, engine); // addresses included, which it takes strictly
        requireName(chain[0], engine.getPeerHost());
    }

    static void requireName(X509Certificate certificate, @Nullable String peer) throws CertificateException {
        if (peer == null || IpLiteral.parse(peer) != null) {
            return;
        }
        String lower = peer.toLowerCase(Locale.ROOT);
        String host = lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
        if (!hasName(certificate, host)) {
            throw new CertificateException("the certificate has no subject alternative name for " + host
                    + " (its common name does not count, nor does an asterisk in a part of a label)");
        }
    }

    private static boolean hasName(X509Certificate certificate, String host) throws CertificateParsingException {
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        int dot = host.indexOf('.');
        if (names != null) {
            for (List<?> name : names) {
                if (Integer.valueOf(DNS_NAME).equals(name.get(0))) {
                    String text = ((String) name.get(1)).toLowerCase(Locale.ROOT);
                    boolean wild = text.startsWith("*.")
                            && dot > 0
                            && text.substring(1).equals(host.substring(dot));
                    if (wild || text.equals(host)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
