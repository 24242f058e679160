package dev.gateway.format;

import org.jspecify.annotations.Nullable;

/** The hash of a password as htpasswd and other tools write it (modular crypt format), taken apart. None shows itself in logs. */
public sealed interface HashNotation {
    /** What each says instead of its hash. */
    String HIDDEN = "(a hash)";

    /** Returns how it begins if a computer tries millions of passwords a second against it, null if it does not. */
    default @Nullable String weakScheme() {
        return null;
    }

    /** Blowfish-based, as {@code htpasswd -B} writes it: {@code $2y$}. */
    record Bcrypt(String text, int cost) implements HashNotation {
        @Override
        public String toString() {
            return HIDDEN;
        }
    }

    /**
     * Argon2 (RFC 9106) in the form of the Password Hashing Competition: {@code $argon2id$}.
     *
     * @param variant id, i or d
     * @param salt in base64, as is the hash
     */
    record Argon2(String variant, int version, int kibibytes, int passes, int lanes, String salt, String hash)
            implements HashNotation {
        private static final int MAX_KIBIBYTES = 256 * 1024;

        /**
         * Checks what it would take.
         *
         * @throws IllegalArgumentException if that is too little or too much, or it cannot be decoded
         */
        public Argon2 {
            if (lanes < 1 || passes < 1 || kibibytes < 8 * lanes || kibibytes > MAX_KIBIBYTES) {
                throw new IllegalArgumentException(
                        "argon2 needs t and p of at least 1, and m from 8p to " + MAX_KIBIBYTES);
            }
            requireBase64(salt);
            requireBase64(hash);
        }

        @Override
        public String toString() {
            return HIDDEN;
        }

        private static void requireBase64(String text) {
            if (text.length() % 4 == 1) { // as decoders have it: six bits make no byte
                throw new IllegalArgumentException("an argon2 hash that is damaged");
            }
        }
    }

    /** MD5-based, as {@code htpasswd -m} writes it: {@code $apr1$}. */
    record Apr1(String text) implements HashNotation {
        @Override
        public String weakScheme() {
            return "$apr1$";
        }

        @Override
        public String toString() {
            return HIDDEN;
        }
    }

    /**
     * SHA-crypt: {@code $5$} of SHA-256, {@code $6$} of SHA-512.
     *
     * @param bits 256 or 512
     */
    record ShaCrypt(String text, int bits, int rounds) implements HashNotation {
        @Override
        public String toString() {
            return HIDDEN;
        }
    }

    /** SHA-1 without salt, as {@code htpasswd -s} writes it: {@code {SHA}} and the digest in base64. */
    record Sha1(String digest) implements HashNotation {
        @Override
        public String weakScheme() {
            return "{SHA}";
        }

        @Override
        public String toString() {
            return HIDDEN;
        }
    }
}
