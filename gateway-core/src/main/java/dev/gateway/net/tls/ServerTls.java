package dev.gateway.net.tls;

import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.UnknownServerName;
import dev.gateway.files.InputFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Downstream TLS context. A listener's side of TLS: certificates chosen by server name and by what the client can verify, resumption, client certificates.
 * Shared by event loops. Freed when its creator and all that have retained it have closed it; connections that it has
 * secured outlive that.
 */
public final class ServerTls implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerTls.class);
    private static final String MAC = "HmacSHA384";
    private static final int CACHED_RESUMPTIONS = 4096; // only for clients of TLS 1.2 that know no tickets

    private final List<SslContext> contexts = new ArrayList<>();
    private final List<X509Certificate> certificates = new ArrayList<>();
    private final CertificateNames<SslContext> names = new CertificateNames<>();
    private final Hellos hellos = new Hellos();
    private final List<String> protocols;
    private final boolean refusesUnknownNames;
    private final KeyOffer.Spoken spoken;
    private final long handshakeMillis;
    private final boolean tickets;
    private final TicketSecrets secrets;
    private final byte[] policy; // what is asked of clients
    private final @Nullable ClientCertificates clients;
    private volatile long keyedPeriod = -1; // whose keys the contexts have
    private final AtomicInteger uses = new AtomicInteger(1);

    /**
     * Reads certificates and keys.
     *
     * @throws IOException if a file cannot be read
     * @throws GeneralSecurityException if a certificate, key, cipher or protocol is not usable
     */
    public ServerTls(ServerTlsSettings settings) throws IOException, GeneralSecurityException {
        this(settings, TicketSecrets.lasting(settings.config().sessions().timeoutSeconds()));
    }

    ServerTls(ServerTlsSettings settings, TicketSecrets secrets) throws IOException, GeneralSecurityException {
        TlsConfig config = settings.config();
        this.protocols = config.protocols().alpn();
        this.refusesUnknownNames = config.certificates().unknownServerName() == UnknownServerName.REFUSE;
        List<String> versions = config.protocols().versions();
        this.spoken = KeyOffer.Spoken.of(
                versions, TlsProvider.ciphers(config.protocols().ciphers(), versions));
        this.handshakeMillis = settings.handshakeMillis();
        this.tickets = config.sessions().tickets();
        this.secrets = secrets;
        // Read once: tickets must not have the key of one CA while connections have the trust of another.
        Path caFile = config.clients().caFile();
        X509Certificate @Nullable [] authorities = caFile == null ? null : Pem.certificates(caFile);
        this.policy = policy(config.clients(), authorities);
        this.clients = authorities == null
                ? null
                : ClientCertificates.read(config.clients().crlFile(), authorities);
        if (!tickets && TlsProvider.CURRENT == SslProvider.JDK) {
            log.warn("sessionTickets: false has no effect, because the JDK's TLS always gives tickets");
        }
        TrustManager trusted = clients == null ? null : clients.trust();
        try {
            for (CertificateRef files : settings.shown()) {
                X509Certificate[] chain = Pem.certificates(files.certFile());
                SslContext context = newContext(config, files, chain, trusted);
                contexts.add(context);
                certificates.add(chain[0]);
                names.add(chain[0], context);
            }
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            free();
            throw e;
        }
        if (contexts.isEmpty()) {
            throw new GeneralSecurityException("a TLS listener needs a certificate");
        }
    }

    private static SslContext newContext(
            TlsConfig config, CertificateRef files, X509Certificate[] chain, @Nullable TrustManager trusted)
            throws IOException, GeneralSecurityException {
        TlsConfig.Protocols spoken = config.protocols();
        List<String> versions = spoken.versions();
        try {
            PrivateKey key = Pem.privateKey(files.keyFile());
            Pem.requirePair(chain[0], key, files.keyFile());
            SslContextBuilder builder = SslContextBuilder.forServer(key, chain).keyStoreType(TlsProvider.KEY_STORE);
            if (trusted != null) {
                builder.trustManager(trusted);
                Authorities.limit(builder);
            }
            return builder.sslProvider(TlsProvider.CURRENT)
                    .protocols(versions)
                    .ciphers(TlsProvider.ciphers(spoken.ciphers(), versions), IdentityCipherSuiteFilter.INSTANCE)
                    .applicationProtocolConfig(TlsProvider.alpn(spoken.alpn()))
                    .clientAuth(clientAuth(config.clients()))
                    .sessionCacheSize(CACHED_RESUMPTIONS)
                    .sessionTimeout(config.sessions().timeoutSeconds())
                    .build();
        } catch (IllegalArgumentException e) {
            // Netty's word for a cipher or protocol that nobody knows.
            throw new GeneralSecurityException(files.certFile() + ": " + e.getMessage(), e);
        }
    }

    private static ClientAuth clientAuth(TlsConfig.Clients wanted) throws GeneralSecurityException {
        ClientAuth auth =
                switch (wanted.auth()) {
                    case NONE -> ClientAuth.NONE;
                    case OPTIONAL -> ClientAuth.OPTIONAL;
                    case REQUIRED -> ClientAuth.REQUIRE;
                };
        if (auth != ClientAuth.NONE && wanted.caFile() == null) {
            throw new GeneralSecurityException("client certificates need a CA file to be verified against");
        }
        return auth;
    }

    private static byte[] policy(TlsConfig.Clients wanted, X509Certificate @Nullable [] authorities)
            throws IOException, GeneralSecurityException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(wanted.auth().name().getBytes(StandardCharsets.US_ASCII));
        if (authorities != null) {
            for (X509Certificate authority : authorities) {
                all.writeBytes(authority.getEncoded());
            }
        }
        Path crlFile = wanted.crlFile();
        if (crlFile != null) {
            all.writeBytes(InputFile.bytes(crlFile));
        }
        return all.toByteArray();
    }

    /** Whether both accept the same certificates of clients. */
    public boolean acceptsSameClients(ServerTls other) {
        return Arrays.equals(policy, other.policy);
    }

    /** Ensures that tickets are made, and taken, with the keys of now. */
    private void renewTicketKeys() {
        if (tickets && keyedPeriod != secrets.current().number()) {
            synchronized (this) {
                TicketSecrets.Period now = secrets.current();
                OpenSslSessionTicketKey[] keys =
                        now.secrets().stream().map(this::ticketKey).toArray(OpenSslSessionTicketKey[]::new);
                for (SslContext context : contexts) {
                    if (context.sessionContext() instanceof OpenSslSessionContext resumption) {
                        resumption.setTicketKeys(keys);
                    }
                }
                keyedPeriod = now.number();
            }
        }
    }

    /**
     * Tickets survive a reload, but are never valid where other clients are let in: the key depends on the process and
     * on what is asked of clients.
     */
    private OpenSslSessionTicketKey ticketKey(byte[] secret) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(secret, MAC));
            byte[] key = mac.doFinal(policy);
            return new OpenSslSessionTicketKey(
                    Arrays.copyOf(key, 16), Arrays.copyOfRange(key, 16, 32), Arrays.copyOfRange(key, 32, 48));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** Returns the servers' own certificates, in the order configured; for metrics of their expiry. */
    public List<X509Certificate> certificates() {
        return List.copyOf(certificates);
    }

    /** Secures a connection: adds handlers to the end of its pipeline, which remove themselves when they are done. */
    public void secure(ChannelPipeline pipeline, HandshakeCallback callback) {
        renewTicketKeys();
        SmallReadCopier.copy(pipeline);
        HelloHandler hello = new HelloHandler(hellos, callback.account(), handshakeMillis);
        pipeline.addLast(hello, new HandshakeHandler(callback, hello, clients));
    }

    private SslHandler newHandler(SslContext context, ByteBufAllocator allocator) {
        SslHandler handler = context.newHandler(allocator);
        handler.setHandshakeTimeoutMillis(handshakeMillis);
        if (clients != null) {
            Authorities.limit(handler.engine());
        }
        if (!tickets && handler.engine() instanceof ReferenceCountedOpenSslEngine openSsl) {
            // Of each connection, because Netty allows them there again for TLS 1.3.
            SSL.setOptions(openSsl.sslPointer(), SSL.SSL_OP_NO_TICKET);
        }
        return handler;
    }

    /** Keeps it from being freed until another {@link #close}. */
    public void retain() {
        uses.incrementAndGet();
    }

    /** Has no further use for it: the last one frees keys and certificates. Connections are not touched. */
    @Override
    public void close() {
        if (uses.decrementAndGet() == 0) {
            free();
        }
    }

    private void free() {
        contexts.forEach(ReferenceCountUtil::release);
        contexts.clear();
    }

    /** Answers what is asked of each client's hello. */
    private final class Hellos implements HelloHandler.Server {
        @Override
        public List<String> protocols() {
            return protocols;
        }

        @Override
        public @Nullable SslContext context(@Nullable String name, ByteBuf hello) {
            List<CertificateNames.Shown<SslContext>> found = name == null ? names.unnamed() : names.find(name);
            if (found.isEmpty() && refusesUnknownNames) {
                return null;
            }
            List<CertificateNames.Shown<SslContext>> shown = found.isEmpty() ? names.unnamed() : found;
            if (shown.size() == 1) {
                return shown.get(0).value();
            }
            KeyOffer offer = ClientHello.keyOffer(hello);
            for (CertificateNames.Shown<SslContext> each : shown) {
                if (offer.takes(each.kind(), spoken)) {
                    return each.value();
                }
            }
            return shown.get(0).value(); // whose handshake fails as it should
        }

        @Override
        public SslHandler handler(SslContext context, ChannelHandlerContext ctx) {
            return newHandler(context, ctx.alloc());
        }
    }
}
