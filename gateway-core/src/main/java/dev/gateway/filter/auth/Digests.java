package dev.gateway.filter.auth;

import io.netty.util.concurrent.FastThreadLocal;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes digests under a key that only this process has. Safe from any thread. */
final class Digests {
    private static final String ALGORITHM = "HmacSHA256";

    private final FastThreadLocal<Mac> macs;

    Digests() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        SecretKeySpec key = new SecretKeySpec(bytes, ALGORITHM);
        this.macs = new FastThreadLocal<>() {
            @Override
            protected Mac initialValue() throws GeneralSecurityException {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(key);
                return mac;
            }
        };
    }

    Digest of(byte[] secret) {
        return new Digest(macs.get().doFinal(secret));
    }
}
