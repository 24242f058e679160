package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.crypto.CertificateHosts;
import dev.gateway.format.crypto.KeyKind;
import dev.gateway.format.crypto.PrivateKeys;
import dev.gateway.format.crypto.SuiteKeys;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Certificates and keys can be read, belong together, are valid now and are shown to somebody. */
final class CertificateChecks {
    private static final Duration SOON = Duration.ofDays(14);
    private static final int MOST_NAMES = 3; // that a message lists

    private final Scope scope;

    private CertificateChecks(Scope scope) {
        this.scope = scope;
    }

    static void run(GatewayConfig config, Scope scope) {
        CertificateChecks checks = new CertificateChecks(scope);
        for (ListenerConfig listener : config.listeners()) {
            TlsConfig tls = listener.protocols().tls();
            if (tls != null) {
                tls.certificates().refs().forEach(ref -> checks.pair(ref, ref.certFile(), ref.keyFile()));
                checks.duplicates(tls);
                checks.names(config, listener, tls);
                checks.suites(tls);
                checks.chain(tls, "caFile", tls.clients().caFile());
            }
        }
        for (UpstreamConfig upstream : config.upstreams()) {
            checks.client(upstream.protocols().tls());
        }
        checks.chain(config.otlp(), "caFile", config.otlp().caFile());
        config.stores().forEach(store -> checks.chain(store, "caFile", store.caFile()));
        config.routes().stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .flatMap(filter -> filter.caFiles().stream())
                .forEach(each -> checks.chain(each.by(), "caFile", each.path()));
        config.connect().stream()
                .flatMap(entry -> entry.parents().stream())
                .forEach(parent -> checks.client(
                        parent.proxy() == null ? null : parent.proxy().tls()));
    }

    /** Warns of hosts of routes that no certificate is issued for: their clients see a warning, or end the handshake. */
    private void names(GatewayConfig config, ListenerConfig listener, TlsConfig tls) {
        if (tls.mode() != TlsConfig.Mode.TERMINATE || tls.certificates().selfSignedDirectory() != null) {
            return;
        }
        Set<String> issued = new HashSet<>();
        for (TlsConfig.CertificateRef ref : tls.certificates().refs()) {
            if (!scope.wrote(ref, "certFile")) {
                return;
            }
            try {
                issued.addAll(CertificateHosts.namesAndAddresses(
                        PemFiles.certificates(ref.certFile()).get(0)));
            } catch (InvalidException | CertificateParsingException e) {
                return; // reported, or it is another's business what is in there
            }
        }
        for (RouteConfig route : config.routes()) {
            if (route.appliesTo(listener)) {
                route.hostnames().stream()
                        .filter(host -> !isCovered(host.value(), issued))
                        .forEach(host -> scope.problems.warning(
                                host.position(),
                                "no certificate of the listener '" + listener.name() + "' is issued for "
                                        + host.value()));
            }
        }
    }

    /** Warns of certificates that are not shown for a name, because an earlier one with a key of the same kind is. */
    private void duplicates(TlsConfig tls) {
        Map<String, TlsConfig.CertificateRef> shown = new HashMap<>(); // by kind and name
        for (TlsConfig.CertificateRef ref : tls.certificates().refs()) {
            if (!scope.wrote(ref, "certFile")) {
                continue;
            }
            try {
                X509Certificate leaf = PemFiles.certificates(ref.certFile()).get(0);
                duplicates(ref, leaf, shown);
            } catch (InvalidException | CertificateParsingException e) {
                // another check reports this
            }
        }
    }

    private void duplicates(
            TlsConfig.CertificateRef ref, X509Certificate leaf, Map<String, TlsConfig.CertificateRef> shown)
            throws CertificateParsingException {
        KeyKind kind = KeyKind.of(leaf.getPublicKey());
        Set<String> names = new LinkedHashSet<>(CertificateHosts.namesAndAddresses(leaf));
        if (names.isEmpty()) {
            names.add(leaf.getSubjectX500Principal().getName()); // shown only to those who ask for no name of another
        }
        List<String> taken = new ArrayList<>();
        TlsConfig.CertificateRef first = null;
        for (String name : names) {
            TlsConfig.CertificateRef before = shown.putIfAbsent(kind + " " + name, ref);
            if (before != null) {
                first = first == null ? before : first;
                taken.add(name);
            }
        }
        if (first != null) {
            scope.problems.warning(
                    scope.at(ref, "certFile"),
                    "certFile: clients that ask for " + listed(taken) + " never get this certificate, because "
                            + first.certFile() + " has a key of the same kind (" + kind + ") and comes first");
        }
    }

    private static String listed(List<String> names) {
        return String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size())))
                + (names.size() > MOST_NAMES ? ", \u2026" : "");
    }

    /** Reports keys that no suite of TLS 1.2 is for: the handshakes of clients that are shown them fail. */
    private void suites(TlsConfig tls) {
        TlsConfig.Protocols spoken = tls.protocols();
        if (spoken.minVersion() == Version.TLS_1_3 || spoken.ciphers().stream().allMatch(SuiteKeys::isOfTls13)) {
            return; // TLS 1.3 has suites for all keys; the safe selection, too
        }
        if (spoken.ciphers().contains("")) {
            return; // in place of a name that is not known, which is reported
        }
        Map<TlsConfig.CertificateRef, X509Certificate> unfit = new LinkedHashMap<>();
        Set<KeyKind> kinds = EnumSet.noneOf(KeyKind.class);
        Set<String> served = new HashSet<>();
        if (tls.certificates().selfSignedDirectory() != null) {
            kinds.add(KeyKind.EC_P256);
        }
        try {
            for (TlsConfig.CertificateRef ref : tls.certificates().refs()) {
                if (!scope.wrote(ref, "certFile")) {
                    return;
                }
                X509Certificate leaf = PemFiles.certificates(ref.certFile()).get(0);
                KeyKind kind = KeyKind.of(leaf.getPublicKey());
                kinds.add(kind);
                if (isAnyFor(kind, spoken.ciphers())) {
                    served.addAll(CertificateHosts.namesAndAddresses(leaf));
                } else {
                    unfit.put(ref, leaf);
                }
            }
            if (kinds.isEmpty() || kinds.contains(KeyKind.OTHER)) {
                return; // there is no certificate, which another check reports, or nothing is known of it
            }
            if (kinds.stream().noneMatch(kind -> isAnyFor(kind, spoken.ciphers()))) {
                noneFits(tls, kinds);
                return;
            }
            for (Map.Entry<TlsConfig.CertificateRef, X509Certificate> each : unfit.entrySet()) {
                oneDoesNotFit(each.getKey(), each.getValue(), served);
            }
        } catch (InvalidException | CertificateParsingException e) {
            // another check reports this
        }
    }

    private void noneFits(TlsConfig tls, Set<KeyKind> kinds) {
        String problem = "ciphers: no suite is for a key of the certificates ("
                + kinds.stream().map(KeyKind::toString).collect(Collectors.joining(", ")) + "), so ";
        String example = suiteFor(kinds.iterator().next());
        if (tls.protocols().maxVersion() == Version.TLS_1_3) {
            scope.problems.warning(
                    scope.at(tls, "ciphers"),
                    problem + "clients of TLS 1.2 cannot connect: add " + example + ", or write minVersion: TLSv1.3");
        } else {
            scope.problems.error(scope.at(tls, "ciphers"), problem + "no client can connect: add " + example);
        }
    }

    private void oneDoesNotFit(TlsConfig.CertificateRef ref, X509Certificate leaf, Set<String> served)
            throws CertificateParsingException {
        List<String> lost = CertificateHosts.namesAndAddresses(leaf).stream()
                .filter(name -> !isCovered(name, served))
                .toList();
        KeyKind kind = KeyKind.of(leaf.getPublicKey());
        if (!lost.isEmpty()) {
            scope.problems.warning(
                    scope.at(ref, "certFile"),
                    "certFile: no suite of ciphers is for a key of this kind (" + kind + "), so clients of TLS 1.2 that"
                            + " ask for " + listed(lost) + " cannot connect: add " + suiteFor(kind));
        }
    }

    private static boolean isAnyFor(KeyKind kind, List<String> suites) {
        return suites.stream().anyMatch(suite -> SuiteKeys.fits(suite, kind));
    }

    private static String suiteFor(KeyKind kind) {
        String rsa = "ECDHE-RSA-AES128-GCM-SHA256";
        return SuiteKeys.fits(rsa, kind) ? rsa : "ECDHE-ECDSA-AES128-GCM-SHA256";
    }

    /** A name or a wildcard of one label is covered by itself or by the wildcard of what is below the first label. */
    private static boolean isCovered(String host, Set<String> issued) {
        int dot = host.indexOf('.');
        return issued.contains(host) || (dot > 0 && issued.contains("*" + host.substring(dot)));
    }

    private void client(UpstreamConfig.@Nullable Tls tls) {
        if (tls != null) {
            chain(tls, "caFile", tls.caFile());
            if (tls.certFile() != null && tls.keyFile() != null) {
                pair(tls, tls.certFile(), tls.keyFile());
            }
        }
    }

    private void pair(Record owner, Path certFile, Path keyFile) {
        X509Certificate leaf = chain(owner, "certFile", certFile);
        if (!scope.wrote(owner, "keyFile")) {
            return;
        }
        Position at = scope.at(owner, "keyFile");
        try {
            PrivateKey key = PemFiles.privateKey(keyFile);
            if (leaf != null && !PrivateKeys.belongTogether(leaf.getPublicKey(), key)) {
                scope.problems.error(
                        at, "keyFile: the key in " + keyFile + " does not belong to the certificate in " + certFile);
            }
        } catch (InvalidException e) {
            scope.problems.error(at, "keyFile: " + e.getMessage());
        }
    }

    private @Nullable X509Certificate chain(Record owner, String key, @Nullable Path file) {
        if (file == null || !scope.wrote(owner, key)) {
            return null;
        }
        Position at = scope.at(owner, key);
        try {
            List<X509Certificate> chain = PemFiles.certificates(file);
            for (X509Certificate certificate : chain) {
                validity(at, key, certificate);
            }
            return chain.get(0);
        } catch (InvalidException e) {
            scope.problems.error(at, key + ": " + e.getMessage());
            return null;
        }
    }

    private void validity(Position at, String key, X509Certificate certificate) {
        Instant now = scope.now;
        Instant begin = certificate.getNotBefore().toInstant();
        Instant end = certificate.getNotAfter().toInstant();
        String subject = certificate.getSubjectX500Principal().getName();
        if (end.isBefore(now)) {
            scope.problems.warning(at, key + ": the certificate of " + subject + " expired at " + end);
        } else if (end.isBefore(now.plus(SOON))) {
            scope.problems.warning(at, key + ": the certificate of " + subject + " expires soon, at " + end);
        } else if (begin.isAfter(now)) {
            scope.problems.warning(at, key + ": the certificate of " + subject + " is not valid before " + begin);
        }
    }
}
