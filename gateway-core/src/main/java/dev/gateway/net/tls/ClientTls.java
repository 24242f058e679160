package dev.gateway.net.tls;

import dev.gateway.config.upstream.UpstreamConfig;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Upstream TLS context: the client's side of TLS for one upstream. Immutable, shared by event loops; connections that it
 * secured outlive {@link #close}.
 */
public final class ClientTls implements AutoCloseable {
    /** As RFC 1123, section 2.1, has it: no other name can be asked for, not even one with an underscore. */
    private static final Pattern SINGLE_LABEL = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?");

    private final SslContext configured;
    private final SslContext http1;
    private final SslContext none;
    private final @Nullable X509Certificate certificate;
    private final @Nullable String serverName;
    private final boolean verifies;
    private final long handshakeMillis;

    /** What is offered to the server by ALPN. */
    public enum Alpn {
        /** The protocols of the settings. */
        CONFIGURED,
        /** HTTP/1.1 and nothing else. */
        HTTP1,
        /** No ALPN, as for bytes whose protocol nobody here knows. */
        NONE
    }

    /**
     * Reads certificates and keys.
     *
     * @param alpn what is offered, in the order of preference
     * @param handshakeMillis how long a handshake may take, 0 for no limit
     * @throws IOException if a file cannot be read
     * @throws GeneralSecurityException if a certificate, key or protocol is not usable
     */
    public ClientTls(UpstreamConfig.Tls settings, List<String> alpn, long handshakeMillis)
            throws IOException, GeneralSecurityException {
        this.serverName = settings.followsHost() ? null : settings.serverName();
        this.verifies = settings.verify();
        this.handshakeMillis = handshakeMillis;
        List<String> protocols = settings.offer().versions();
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(TlsProvider.CURRENT)
                .protocols(protocols)
                .ciphers(
                        TlsProvider.clientCiphers(settings.offer().ciphers(), protocols),
                        IdentityCipherSuiteFilter.INSTANCE);
        Authorities.limit(builder);
        if (!verifies) {
            builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
        } else {
            X509Certificate[] authorities = settings.caFile() == null ? null : Pem.certificates(settings.caFile());
            // Made once for all contexts: the platform has many authorities.
            builder.endpointIdentificationAlgorithm("HTTPS").trustManager(new NamedPeer(Authorities.of(authorities)));
        }
        this.certificate = identify(builder, settings.certFile(), settings.keyFile());
        try {
            this.configured = build(builder, alpn);
            this.http1 = build(builder, List.of("http/1.1"));
            this.none = build(builder, List.of());
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException(e.getMessage(), e); // a protocol that nobody knows
        }
    }

    private static @Nullable X509Certificate identify(
            SslContextBuilder builder, @Nullable Path certFile, @Nullable Path keyFile)
            throws IOException, GeneralSecurityException {
        if (certFile == null || keyFile == null) {
            return null;
        }
        X509Certificate[] chain = Pem.certificates(certFile);
        PrivateKey key = Pem.privateKey(keyFile);
        Pem.requirePair(chain[0], key, keyFile);
        builder.keyManager(key, chain).keyStoreType(TlsProvider.KEY_STORE);
        if (TlsProvider.CURRENT != SslProvider.JDK) {
            // A task would run on this thread, too, and Netty does not continue a later handshake of TLS 1.2 after one.
            builder.option(OpenSslContextOption.USE_TASKS, false);
        }
        return chain[0];
    }

    /** Returns the certificate that is shown to servers that ask for one, or null; for metrics of its expiry. */
    public @Nullable X509Certificate certificate() {
        return certificate;
    }

    private static SslContext build(SslContextBuilder builder, List<String> alpn) throws SSLException {
        return builder.applicationProtocolConfig(TlsProvider.alpn(alpn)).build();
    }

    /**
     * Makes the handler that secures one connection. It must be added to a pipeline, which releases it.
     *
     * @param host the host dialed, verified and asked for unless the settings name another
     */
    public SslHandler newHandler(ByteBufAllocator allocator, String host, int port, Alpn alpn) {
        SslContext context =
                switch (alpn) {
                    case CONFIGURED -> configured;
                    case HTTP1 -> http1;
                    case NONE -> none;
                };
        String name = serverName != null ? serverName : host;
        SslHandler handler = context.newHandler(allocator, name, port);
        handler.setHandshakeTimeoutMillis(handshakeMillis);
        if (verifies) {
            Authorities.limit(handler.engine());
        }
        if (SINGLE_LABEL.matcher(name).matches()) {
            askFor(name, handler.engine());
        }
        return handler;
    }

    /** Netty, as the JDK, asks for no name without a dot; but such are the names of services in a cluster. */
    private static void askFor(String name, SSLEngine engine) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        engine.setSSLParameters(parameters);
    }

    @Override
    public void close() {
        ReferenceCountUtil.release(configured);
        ReferenceCountUtil.release(http1);
        ReferenceCountUtil.release(none);
    }
}
