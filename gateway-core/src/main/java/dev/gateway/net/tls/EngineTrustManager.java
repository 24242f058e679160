package dev.gateway.net.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts nobody. A subclass trusts the peers of engines, in the one role that it has a method for. Safe from any thread.
 */
abstract class EngineTrustManager extends X509ExtendedTrustManager {
    final Authorities authorities;

    /** Makes it with the authorities whose word a subclass asks. */
    EngineTrustManager(Authorities authorities) {
        this.authorities = authorities;
    }

    private static CertificateException refusal() {
        return new CertificateException("only engines verify peers, and only in one role");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw refusal();
    }

    @Override
    public final void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw refusal();
    }

    @Override
    public final void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw refusal();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw refusal();
    }

    @Override
    public final void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw refusal();
    }

    @Override
    public final void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw refusal();
    }

    @Override
    public final X509Certificate[] getAcceptedIssuers() {
        return authorities.all();
    }
}
