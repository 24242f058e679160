package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.Position;
import dev.gateway.config.TlsConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.pem.PrivateKeys;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Certificates and keys can be read, belong together and are valid now. */
final class CertificateChecks {
    private static final Duration SOON = Duration.ofDays(14);

    private final Scope scope;

    private CertificateChecks(Scope scope) {
        this.scope = scope;
    }

    static void run(GatewayConfig config, Scope scope) {
        CertificateChecks checks = new CertificateChecks(scope);
        for (ListenerConfig listener : config.listeners()) {
            TlsConfig tls = listener.tls();
            if (tls != null) {
                tls.certificateRefs().forEach(ref -> checks.pair(ref, ref.certFile(), ref.keyFile()));
                checks.chain(tls, "caFile", tls.caFile());
            }
        }
        for (UpstreamConfig upstream : config.upstreams()) {
            checks.client(upstream.tls());
        }
        checks.chain(config.otlp(), "caFile", config.otlp().caFile());
        config.connect().stream()
                .flatMap(entry -> entry.parents().stream())
                .forEach(parent -> checks.client(
                        parent.proxy() == null ? null : parent.proxy().tls()));
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
            PrivateKey key = Pem.privateKey(keyFile);
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
            List<X509Certificate> chain = Pem.certificates(file);
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
