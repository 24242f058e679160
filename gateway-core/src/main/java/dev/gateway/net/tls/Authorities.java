package dev.gateway.net.tls;

import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Trusted authorities, who decide on peers' certificates. The JDK's trust manager has the last word. On its own it would search
 * all paths that a peer's certificates may form, by their names: more than anybody can wait for. So it gets one path, which
 * {@link PathSearch} has found. Immutable.
 */
class Authorities {
    /** How many certificates a peer may send. The JDK's TLS takes 8 from clients and 10 from servers. */
    static final int MAX_SENT = 10;

    /** How long the message with a peer's certificates may be; BoringSSL reads no longer one. */
    private static final int MAX_SENT_BYTES = 64 * 1024;

    private static final String ANY = "UNKNOWN"; // key exchange, which no check of a client looks at

    private final X509ExtendedTrustManager manager;
    private final Map<X500Principal, List<X509Certificate>> bySubject = new HashMap<>();

    Authorities(X509ExtendedTrustManager manager) {
        this.manager = manager;
        for (X509Certificate each : manager.getAcceptedIssuers()) {
            bySubject
                    .computeIfAbsent(each.getSubjectX500Principal(), name -> new ArrayList<>(1))
                    .add(each);
        }
    }

    /**
     * Makes them.
     *
     * @param trusted null for those of the platform
     */
    static Authorities of(X509Certificate @Nullable [] trusted) throws IOException, GeneralSecurityException {
        KeyStore store = null;
        if (trusted != null) {
            store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < trusted.length; i++) {
                store.setCertificateEntry(Integer.toString(i), trusted[i]);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        for (TrustManager each : factory.getTrustManagers()) {
            if (each instanceof X509ExtendedTrustManager manager) {
                return new Authorities(manager);
            }
        }
        throw new GeneralSecurityException("this Java runtime has no trust manager for certificates");
    }

    /** Bounds what a peer may send before anybody looks at it. The JDK's TLS has a limit of its own, 32 KiB. */
    static void limit(SslContextBuilder builder) {
        if (TlsProvider.CURRENT != SslProvider.JDK) {
            builder.option(OpenSslContextOption.MAX_CERTIFICATE_LIST_BYTES, MAX_SENT_BYTES);
        }
    }

    /** Lets an engine hand over one certificate too many, so that the peer is refused. Netty would leave out the rest. */
    static void limit(SSLEngine engine) {
        if (engine instanceof ReferenceCountedOpenSslEngine openSsl) {
            SSL.setVerify(openSsl.sslPointer(), SSL.SSL_CVERIFY_IGNORED, MAX_SENT + 1);
        }
    }

    /** Fails if the client of a handshake must not be trusted. */
    void checkClient(X509Certificate[] sent, String authType, SSLEngine engine) throws CertificateException {
        manager.checkClientTrusted(path(sent), authType, engine);
    }

    /** Fails if a client must not be trusted now whose handshake was in the past. */
    void checkClient(X509Certificate[] sent) throws CertificateException {
        manager.checkClientTrusted(path(sent), ANY);
    }

    /** Fails if the server of a handshake must not be trusted, or has not the name that the engine asks for. */
    void checkServer(X509Certificate[] sent, String authType, SSLEngine engine) throws CertificateException {
        manager.checkServerTrusted(path(sent), authType, engine);
    }

    /** Returns all of them. */
    X509Certificate[] all() {
        return manager.getAcceptedIssuers();
    }

    private X509Certificate[] path(X509Certificate[] sent) throws CertificateException {
        if (sent.length > MAX_SENT) {
            throw new CertificateException("more than " + MAX_SENT + " certificates were sent");
        }
        X509Certificate own = sent[0];
        if (haveSigned(own) || areNamed(own.getSubjectX500Principal()).contains(own)) {
            return new X509Certificate[] {own};
        }
        X509Certificate[] path = new PathSearch(this::haveSigned, this::isSigned, sent).path();
        if (path == null) {
            throw new CertificateException(
                    "not trusted", new CertPathBuilderException("unable to find valid certification path"));
        }
        return path;
    }

    /** Whether one of them has signed a certificate. */
    boolean haveSigned(X509Certificate certificate) {
        for (X509Certificate each : areNamed(certificate.getIssuerX500Principal())) {
            if (isSigned(certificate, each.getPublicKey())) {
                return true;
            }
        }
        return false;
    }

    private List<X509Certificate> areNamed(X500Principal name) {
        return bySubject.getOrDefault(name, List.of());
    }

    /** Costs nothing more later: the JDK's certificates remember whose key has verified them. */
    boolean isSigned(X509Certificate certificate, PublicKey key) {
        try {
            certificate.verify(key);
            return true;
        } catch (GeneralSecurityException e) {
            return false; // by somebody else with that name
        }
    }
}
