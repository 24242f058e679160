package dev.gateway.net.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Trust manager factory. */
final class TrustManagers {
    private TrustManagers() {}

    /**
     * Returns who trusts authorities.
     *
     * @param authorities null for those of the platform
     */
    static X509ExtendedTrustManager of(X509Certificate @Nullable [] authorities)
            throws IOException, GeneralSecurityException {
        KeyStore store = null;
        if (authorities != null) {
            store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < authorities.length; i++) {
                store.setCertificateEntry(Integer.toString(i), authorities[i]);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        for (TrustManager each : factory.getTrustManagers()) {
            if (each instanceof X509ExtendedTrustManager manager) {
                return manager;
            }
        }
        throw new GeneralSecurityException("this Java runtime has no trust manager for certificates");
    }
}
