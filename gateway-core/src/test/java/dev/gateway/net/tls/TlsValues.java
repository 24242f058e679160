package dev.gateway.net.tls;

import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.listener.TlsConfig.Protocols;
import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Settings of TLS as most tests need them: with tickets, TLS 1.2 and 1.3, and safe cipher suites. */
public final class TlsValues {
    private TlsValues() {}

    /** Returns settings of a server that shows these certificates. */
    public static ServerTlsSettings server(
            List<CertificateRef> shown, Protocols spoken, TlsConfig.Clients clients, long handshakeMillis) {
        return server(shown, spoken, clients, true, handshakeMillis);
    }

    static ServerTlsSettings server(
            List<CertificateRef> shown,
            Protocols spoken,
            TlsConfig.Clients clients,
            boolean tickets,
            long handshakeMillis) {
        TlsConfig config = new TlsConfig(
                Position.NOWHERE,
                TlsConfig.Mode.TERMINATE,
                new TlsConfig.Certificates(shown, null, TlsConfig.UnknownServerName.FIRST_CERTIFICATE),
                spoken,
                new TlsConfig.Sessions(tickets, Duration.ofHours(2)),
                clients);
        return new ServerTlsSettings(shown, config, handshakeMillis);
    }

    /** Returns what is spoken with these protocols above TLS. */
    public static Protocols spoken(List<String> alpn) {
        return new Protocols(alpn, Version.TLS_1_2, Version.TLS_1_3, List.of());
    }

    /** Returns what clients show. */
    public static TlsConfig.Clients clients(ClientAuth auth, @Nullable Path caFile) {
        return new TlsConfig.Clients(auth, caFile, null, TlsConfig.CaChange.KEEP);
    }
}
