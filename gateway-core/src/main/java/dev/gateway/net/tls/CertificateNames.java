package dev.gateway.net.tls;

import dev.gateway.format.crypto.CertificateHosts;
import dev.gateway.format.crypto.KeyKind;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the certificates of a server name: those with the exact name, then those with a wildcard for its first label. A name
 * may have one certificate for each kind of key. Filled when files are read; after that any thread may ask.
 */
final class CertificateNames<T> {
    private final Map<String, List<Shown<T>>> exact = new HashMap<>();
    private final Map<String, List<Shown<T>>> wildcard = new HashMap<>(); // by what follows "*"
    private final List<Shown<T>> unnamed = new ArrayList<>();
    private final Set<String> firstNames = new HashSet<>();

    /**
     * A certificate.
     *
     * @param value what belongs to it
     */
    record Shown<T>(KeyKind kind, T value) {}

    /** Adds a certificate. For each of its names it is shown unless an earlier one has that name and the same kind of key. */
    void add(X509Certificate certificate, T value) throws CertificateParsingException {
        Shown<T> shown = new Shown<>(KeyKind.of(certificate.getPublicKey()), value);
        for (String name : CertificateHosts.names(certificate)) {
            if (name.startsWith("*.")) {
                add(wildcard.computeIfAbsent(name.substring(1), suffix -> new ArrayList<>(1)), shown);
            } else {
                add(exact.computeIfAbsent(name, each -> new ArrayList<>(1)), shown);
            }
        }
        Set<String> names = new HashSet<>(CertificateHosts.namesAndAddresses(certificate));
        if (names.isEmpty()) {
            names.add(certificate.getSubjectX500Principal().getName());
        }
        if (unnamed.isEmpty()) {
            firstNames.addAll(names);
            unnamed.add(shown);
        } else if (!Collections.disjoint(names, firstNames)) {
            add(unnamed, shown);
        }
    }

    private static <T> void add(List<Shown<T>> all, Shown<T> added) {
        if (all.stream().noneMatch(each -> each.kind() == added.kind())) {
            all.add(added);
            all.sort(Comparator.comparing(Shown::kind));
        }
    }

    /** Returns the certificates for a name in lower case, the preferred one first; empty if no certificate has it. */
    List<Shown<T>> find(String name) {
        List<Shown<T>> found = exact.getOrDefault(name, List.of());
        int dot = name.indexOf('.');
        List<Shown<T>> more = dot > 0 ? wildcard.getOrDefault(name.substring(dot), List.of()) : List.of();
        if (found.isEmpty() || more.isEmpty()) {
            return found.isEmpty() ? more : found;
        }
        List<Shown<T>> all = new ArrayList<>(found);
        all.addAll(more);
        return all;
    }

    /** Returns those for clients that ask for no name: the first that was added, and others with one of its names. */
    List<Shown<T>> unnamed() {
        return unnamed;
    }
}
