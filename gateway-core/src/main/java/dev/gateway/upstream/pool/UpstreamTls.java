package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.dial.UpstreamSettings;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Upstream TLS: the client side of TLS for all connections of one upstream, to its endpoints and to parents. Immutable,
 * shared by event loops.
 */
final class UpstreamTls implements AutoCloseable {
    private final @Nullable ClientTls endpoints;
    private final Map<ParentProxy, ClientTls> parents = new HashMap<>();

    private UpstreamTls(@Nullable ClientTls endpoints) {
        this.endpoints = endpoints;
    }

    /** Reads certificates and keys. */
    static UpstreamTls of(UpstreamSettings settings) throws IOException, GeneralSecurityException {
        UpstreamConfig.Tls own = settings.tls();
        UpstreamTls made = new UpstreamTls(
                own == null ? null : new ClientTls(own, alpn(settings.protocol()), settings.tlsHandshakeMillis()));
        boolean complete = false;
        try {
            for (ParentProxy parent : settings.dialSettings().parents().all()) {
                if (parent.tls() != null) {
                    // No limit of its own: the connect timeout covers the whole handshake with a parent.
                    made.parents.put(parent, new ClientTls(parent.tls(), List.of(), 0));
                }
            }
            complete = true;
        } finally {
            if (!complete) {
                made.close();
            }
        }
        return made;
    }

    private static List<String> alpn(Protocol protocol) {
        return switch (protocol) {
            case AUTO -> List.of("h2", "http/1.1");
            case H2, H2C -> List.of("h2");
            case HTTP1 -> List.of("http/1.1");
        };
    }

    /** Returns TLS for connections to a parent, or to endpoints if the parent is null; null for cleartext. */
    @Nullable
    ClientTls of(@Nullable ParentProxy parent) {
        return parent == null ? endpoints : parents.get(parent);
    }

    /** Returns the client certificates that the gateway presents. */
    List<X509Certificate> certificates() {
        List<X509Certificate> certificates = new ArrayList<>();
        for (ClientTls each : all()) {
            X509Certificate certificate = each.certificate();
            if (certificate != null && !certificates.contains(certificate)) {
                certificates.add(certificate);
            }
        }
        return certificates;
    }

    private List<ClientTls> all() {
        List<ClientTls> all = new ArrayList<>(parents.values());
        if (endpoints != null) {
            all.add(endpoints);
        }
        return all;
    }

    @Override
    public void close() {
        all().forEach(ClientTls::close);
    }
}
