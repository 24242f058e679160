package dev.gateway.listener.assembly;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.ipaccess.AccessList;
import dev.gateway.format.CidrSet;
import dev.gateway.format.Durations;
import dev.gateway.listener.ListenerSettings;
import dev.gateway.listener.ListenerSettings.Access;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.net.tls.SelfSigned;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.tls.ServerTlsSettings;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.protocol.http2.Http2ServerSettings;
import dev.gateway.protocol.tcp.TcpServerSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Listener settings factory: turns configured listeners into settings of listeners. */
public final class ListenerAssembly {
    private static final String ADMIN = "admin";
    private static final int ADMIN_INDEX = -1; // its requests never become exchanges
    private static final long ADMIN_HEAD_MILLIS = 5_000;
    private static final long ADMIN_MILLIS = 30_000;
    private static final int ADMIN_CONNECTIONS = 256;
    private static final HeadLimits ADMIN_HEAD = new HeadLimits(4 * 1024, 16 * 1024, 128); // of probes and browsers
    private static final int ADMIN_CONNECTIONS_PER_ADDRESS = 64;

    private ListenerAssembly() {}

    /**
     * Makes the settings of a listener.
     *
     * @param states what it keeps from one generation to the next
     */
    public static ListenerSettings settings(
            int index, ListenerConfig config, @Nullable ServerTls tls, FilterStates.Prepared states)
            throws StartException {
        ListenerConfig.Limits limits = config.limits();
        ConnectionTimeouts timeouts = ConnectionTimeouts.of(config.timeouts());
        Http1ServerSettings http1 = new Http1ServerSettings(
                new HeadLimits(
                        atMostInt(limits.maxRequestLine()), atMostInt(limits.maxHeaderBytes()), limits.maxHeaders()),
                timeouts,
                config.http().halfClose() == ListenerConfig.HalfClose.ALLOW,
                config.minBodyRate());
        TlsConfig secured = config.protocols().tls();
        boolean speaksHttp2 = secured == null || secured.protocols().alpn().contains("h2");
        Http2ServerSettings http2 = !speaksHttp2
                ? null
                : new Http2ServerSettings(
                        Http2ServerSettings.Streams.DEFAULT.withMaxConcurrent(limits.maxConcurrentStreams()),
                        new Http2ServerSettings.Heads(atMostInt(limits.maxHeaderBytes()), limits.maxHeaders()),
                        timeouts,
                        config.minBodyRate());
        ListenerConfig.ProxyProtocol proxy = config.protocols().proxyProtocol();
        return new ListenerSettings(
                index,
                config.name(),
                address(config.bind()),
                config.bind().reusePort() ? ListenerSettings.Sharing.SPREAD : ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(
                        limits.clients().connections(),
                        0,
                        new ListenerSettings.Clients(
                                access(config, states),
                                limits.clients().maxConnectionsPerClient(),
                                CidrSet.of(config.http().trustedProxies())::contains,
                                limits.clients().maxAcceptRate())),
                tls,
                proxy == null
                        ? null
                        : new ProxyProtocol(CidrSet.of(proxy.trustedCidrs()), timeouts.requestHeadersMillis()),
                new ListenerSettings.Protocols(http1, http2, config.http().h2cUpgrade(), bytes(config)));
    }

    private static Access access(ListenerConfig config, FilterStates.Prepared states) throws StartException {
        return config.ipAccess() == null ? Access.ANYONE : AccessList.of(config.ipAccess(), states)::refusal;
    }

    private static @Nullable TcpServerSettings bytes(ListenerConfig config) {
        return config.isHttp()
                ? null
                : new TcpServerSettings(
                        config.protocols().protocol() == ListenerConfig.Protocol.TLS,
                        Durations.millis(config.timeouts().tlsHandshake()));
    }

    /** Returns where a listener is to be bound; looks a name up. */
    public static SocketAddress address(BindConfig bind) {
        return bind.unix() != null
                ? UnixDomainSocketAddress.of(bind.unix())
                : new InetSocketAddress(bind.address(), bind.port());
    }

    /**
     * Makes the settings of the admin listener: HTTP/1.1 and few connections, of which no client can have all.
     *
     * @param descriptors how many are kept for it
     */
    public static ListenerSettings admin(AdminConfig config, int descriptors) {
        Http1ServerSettings http1 = new Http1ServerSettings(
                ADMIN_HEAD,
                new ConnectionTimeouts(ADMIN_HEAD_MILLIS, ADMIN_HEAD_MILLIS, ADMIN_MILLIS, 0, ADMIN_MILLIS),
                false);
        return new ListenerSettings(
                ADMIN_INDEX,
                ADMIN,
                address(config.bind()),
                config.bind().reusePort() ? ListenerSettings.Sharing.LAST_GETS_ALL : ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(
                        Math.min(ADMIN_CONNECTIONS, descriptors),
                        Math.min(ADMIN_CONNECTIONS_PER_ADDRESS, Math.max(2, descriptors / 2))),
                null,
                null,
                new ListenerSettings.Protocols(http1, null, false));
    }

    private static int atMostInt(long size) {
        return (int) Math.min(size, Integer.MAX_VALUE);
    }

    /**
     * Makes the settings of a listener's TLS; makes a self-signed certificate if one is wanted and there is none.
     *
     * @return null for cleartext, and for TLS that is passed on
     */
    public static @Nullable ServerTlsSettings tls(ListenerConfig listener) throws StartException {
        TlsConfig config = listener.protocols().tls();
        if (config == null || !listener.isHttp()) {
            return null;
        }
        List<CertificateRef> shown = new ArrayList<>(config.certificates().refs());
        if (config.certificates().selfSignedDirectory() != null) {
            try {
                shown.add(SelfSigned.in(config.certificates().selfSignedDirectory()));
            } catch (IOException | GeneralSecurityException e) {
                throw StartException.at(config.position(), e);
            }
        }
        return new ServerTlsSettings(
                shown,
                config.ofHandshakes(),
                Durations.millis(listener.timeouts().tlsHandshake()));
    }
}
