package dev.gateway.filter.auth;

import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** The digest of a secret, as a key of tables; compared in constant time. */
public final class Digest {
    private final byte[] bytes;

    /** Takes over at least four bytes. */
    Digest(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Digest digest && MessageDigest.isEqual(bytes, digest.bytes);
    }

    @Override
    public int hashCode() {
        return bytes[0] << 24 | (bytes[1] & 0xff) << 16 | (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff);
    }
}
