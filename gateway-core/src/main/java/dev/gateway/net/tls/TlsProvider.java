package dev.gateway.net.tls;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslProvider;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which TLS implementation runs, and what both sides have in common. */
final class TlsProvider {
    private static final Logger log = LoggerFactory.getLogger(TlsProvider.class);

    static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");
    static final List<String> TLS_13_CIPHERS =
            List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");
    /** Forward secrecy and authenticated encryption only. */
    static final List<String> TLS_12_CIPHERS = List.of(
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

    /** TLS 1.1 has none with authenticated encryption. */
    static final List<String> TLS_11_CIPHERS = List.of(
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
            "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
            "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
            "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA");

    /** Reference counted, so that a generation that ended frees its memory at once and engines need no finalizer. */
    static final SslProvider CURRENT = choose();

    /**
     * The kind of key store in which Netty keeps a private key in memory. The default, PKCS #12, encrypts each key with
     * thousands of rounds of hashing, and decrypts it at once: 130 ms of CPU time in a JVM that has just started. JKS takes 2.
     */
    static final String KEY_STORE =
            Security.getAlgorithms("KeyStore").contains("JKS") ? "JKS" : KeyStore.getDefaultType();

    private TlsProvider() {}

    private static SslProvider choose() {
        if (OpenSsl.isAvailable()) {
            log.info("TLS by {}", OpenSsl.versionString());
            return SslProvider.OPENSSL_REFCNT;
        }
        log.warn(
                "BoringSSL is not available here, falling back to the JDK's TLS, which is slower: {}",
                String.valueOf(OpenSsl.unavailabilityCause()));
        return SslProvider.JDK;
    }

    /** TLS 1.3 has its own suites: a list that names only others is no reason to lose TLS 1.3. */
    static List<String> ciphers(List<String> configured, List<String> protocols) {
        List<String> ciphers = new ArrayList<>(configured.isEmpty() ? TLS_12_CIPHERS : configured);
        if (protocols.contains("TLSv1.3") && ciphers.stream().noneMatch(TLS_13_CIPHERS::contains)) {
            ciphers.addAll(0, TLS_13_CIPHERS);
        }
        if (!protocols.contains("TLSv1.2")) {
            ciphers.retainAll(TLS_13_CIPHERS);
        }
        return ciphers;
    }

    /**
     * Returns what is offered to servers, which may be older than what the gateway accepts.
     *
     * @throws GeneralSecurityException if the library has not one of them: it would leave that out silently
     */
    static List<String> clientCiphers(List<String> configured, List<String> protocols) throws GeneralSecurityException {
        for (String cipher : configured) {
            if (CURRENT != SslProvider.JDK && !OpenSsl.isCipherSuiteAvailable(cipher)) {
                throw new GeneralSecurityException("the TLS library has no cipher suite " + cipher);
            }
        }
        if (!protocols.contains("TLSv1.1")) {
            return ciphers(configured, protocols);
        }
        List<String> ciphers = new ArrayList<>(configured.isEmpty() ? TLS_12_CIPHERS : configured);
        if (protocols.contains("TLSv1.3") && ciphers.stream().noneMatch(TLS_13_CIPHERS::contains)) {
            ciphers.addAll(0, TLS_13_CIPHERS);
        }
        if (configured.isEmpty()) {
            ciphers.addAll(TLS_11_CIPHERS);
        }
        return ciphers;
    }

    static ApplicationProtocolConfig alpn(List<String> protocols) {
        if (protocols.isEmpty()) {
            return ApplicationProtocolConfig.DISABLED;
        }
        return new ApplicationProtocolConfig(
                Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, protocols);
    }
}
