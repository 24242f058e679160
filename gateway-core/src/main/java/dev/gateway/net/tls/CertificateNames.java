package dev.gateway.net.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds what belongs to a server name among the names of certificates: exact, else a wildcard for its first label. */
final class CertificateNames<T> {
    private static final int DNS_NAME = 2; // GeneralName, RFC 5280, section 4.2.1.6

    private final Map<String, T> exact = new HashMap<>();
    private final Map<String, T> wildcard = new HashMap<>(); // by what follows "*"

    /** Adds a certificate's names; those that an earlier certificate has stay with it. */
    void add(X509Certificate certificate, T value) throws CertificateParsingException {
        for (String name : namesOf(certificate)) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith("*.")) {
                wildcard.putIfAbsent(lower.substring(1), value);
            } else {
                exact.putIfAbsent(lower, value);
            }
        }
    }

    private static List<String> namesOf(X509Certificate certificate) throws CertificateParsingException {
        List<String> names = new ArrayList<>();
        Collection<List<?>> all = certificate.getSubjectAlternativeNames();
        if (all != null) {
            for (List<?> name : all) {
                if (Integer.valueOf(DNS_NAME).equals(name.get(0))) {
                    names.add((String) name.get(1));
                }
            }
        }
        return names;
    }

    /** Finds the value for a name in lower case. */
    @Nullable
    T find(String name) {
        T value = exact.get(name);
        if (value == null) {
            int dot = name.indexOf('.');
            value = dot > 0 ? wildcard.get(name.substring(dot)) : null;
        }
        return value;
    }
}
