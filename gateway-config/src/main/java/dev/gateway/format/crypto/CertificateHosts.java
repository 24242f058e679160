package dev.gateway.format.crypto;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Names of a certificate: the hosts that it is issued for (subject alternative names, RFC 5280, section 4.2.1.6). */
public final class CertificateHosts {
    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;

    private CertificateHosts() {}

    /** Returns its DNS names, in lower case. */
    public static Set<String> names(X509Certificate certificate) throws CertificateParsingException {
        return of(certificate, Set.of(DNS_NAME));
    }

    /** Returns its DNS names in lower case, and its addresses. */
    public static Set<String> namesAndAddresses(X509Certificate certificate) throws CertificateParsingException {
        return of(certificate, Set.of(DNS_NAME, IP_ADDRESS));
    }

    private static Set<String> of(X509Certificate certificate, Set<Integer> kinds) throws CertificateParsingException {
        Set<String> hosts = new LinkedHashSet<>();
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        for (List<?> name : names == null ? List.<List<?>>of() : names) {
            if (name.get(0) instanceof Integer kind && kinds.contains(kind)) {
                hosts.add(String.valueOf(name.get(1)).toLowerCase(Locale.ROOT));
            }
        }
        return hosts;
    }
}
