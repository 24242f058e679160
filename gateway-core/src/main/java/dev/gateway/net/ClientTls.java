package dev.gateway.net;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of TLS for one upstream. Immutable, shared by event loops; connections that it secured outlive
 * {@link #close}.
 */
public final class ClientTls implements AutoCloseable {
    private final SslContext context;
    private final @Nullable String serverName;
    private final long handshakeMillis;

    /**
     * Reads certificates and keys.
     *
     * @throws IOException if a file cannot be read
     * @throws GeneralSecurityException if a certificate, key or protocol is not usable
     */
    public ClientTls(ClientTlsSettings settings) throws IOException, GeneralSecurityException {
        this.serverName = settings.serverName();
        this.handshakeMillis = settings.handshakeMillis();
        List<String> protocols = settings.protocols().isEmpty() ? TlsProvider.PROTOCOLS : settings.protocols();
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(TlsProvider.CURRENT)
                .protocols(protocols)
                .ciphers(TlsProvider.ciphers(List.of(), protocols), IdentityCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(TlsProvider.alpn(settings.alpn()));
        if (!settings.verify()) {
            builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
        } else {
            builder.endpointIdentificationAlgorithm("HTTPS");
            if (settings.caFile() != null) {
                builder.trustManager(Pem.certificates(settings.caFile()));
            }
        }
        Path certFile = settings.certFile();
        Path keyFile = settings.keyFile();
        if (certFile != null && keyFile != null) {
            X509Certificate[] chain = Pem.certificates(certFile);
            PrivateKey key = Pem.privateKey(keyFile);
            Pem.requirePair(chain[0], key, keyFile);
            builder.keyManager(key, chain);
        }
        try {
            this.context = builder.build();
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException(e.getMessage(), e); // a protocol that nobody knows
        }
    }

    /**
     * Makes the handler that secures one connection. It must be added to a pipeline, which releases it.
     *
     * @param host the host dialled, verified and asked for unless the settings name another
     */
    public SslHandler newHandler(ByteBufAllocator allocator, String host, int port) {
        SslHandler handler = context.newHandler(allocator, serverName != null ? serverName : host, port);
        handler.setHandshakeTimeoutMillis(handshakeMillis);
        return handler;
    }

    @Override
    public void close() {
        ReferenceCountUtil.release(context);
    }
}
