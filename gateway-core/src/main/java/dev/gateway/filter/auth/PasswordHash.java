package dev.gateway.filter.auth;

import dev.gateway.format.HashNotation;
import dev.gateway.format.HashNotation.Apr1;
import dev.gateway.format.HashNotation.Bcrypt;
import dev.gateway.format.HashNotation.ShaCrypt;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.apache.commons.codec.digest.Md5Crypt;
import org.apache.commons.codec.digest.Sha2Crypt;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.jspecify.annotations.Nullable;

/**
 * A password as a users file keeps it. Immutable. Checking one may take long and much memory, on purpose: never on an
 * event loop.
 */
abstract class PasswordHash {
    /** About how long a check takes, in microseconds, to tell which of two hashes takes longer. */
    private final long cost;

    private PasswordHash(long cost) {
        this.cost = cost;
    }

    long cost() {
        return cost;
    }

    /** Whether this is the password; takes as long whether it is or not. */
    abstract boolean matches(byte[] password);

    /** Returns why a hash cannot be checked within so much memory, null if it can. */
    static @Nullable String problem(HashNotation notation, ArgonMemory memory) {
        return notation instanceof HashNotation.Argon2 argon2 && argon2.kibibytes() > memory.kibibytes()
                ? "argon2 with m=" + argon2.kibibytes() + " takes more of the heap than there is for it: hash with m="
                        + memory.kibibytes() + " at most, or raise -Xmx"
                : null;
    }

    /**
     * Makes it of how it is written.
     *
     * @param notation one without a {@link #problem}
     */
    static PasswordHash of(HashNotation notation) {
        if (notation instanceof Bcrypt bcrypt) {
            return new PasswordHash(60L << bcrypt.cost()) {
                @Override
                boolean matches(byte[] password) {
                    return OpenBSDBCrypt.checkPassword(bcrypt.text(), password);
                }
            };
        }
        if (notation instanceof HashNotation.Argon2 argon2) {
            return new Argon2(argon2);
        }
        if (notation instanceof Apr1 apr1) {
            return new Crypt(apr1.text(), 500) {
                @Override
                String hash(byte[] password) {
                    return Md5Crypt.apr1Crypt(password, apr1.text());
                }
            };
        }
        if (notation instanceof ShaCrypt sha) {
            return new Crypt(sha.text(), sha.rounds()) {
                @Override
                String hash(byte[] password) {
                    return sha.bits() == 256
                            ? Sha2Crypt.sha256Crypt(password, sha.text())
                            : Sha2Crypt.sha512Crypt(password, sha.text());
                }
            };
        }
        return new Sha1(Base64.getDecoder().decode(((HashNotation.Sha1) notation).digest()));
    }

    /** What hashes to a text that begins with its own settings. */
    private abstract static class Crypt extends PasswordHash {
        private final byte[] expected;

        Crypt(String text, long cost) {
            super(cost);
            this.expected = text.getBytes(StandardCharsets.US_ASCII);
        }

        abstract String hash(byte[] password);

        @Override
        boolean matches(byte[] password) {
            // What hashes wipes the array that it is given.
            return MessageDigest.isEqual(expected, hash(password.clone()).getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static final class Argon2 extends PasswordHash {
        private final Argon2Parameters parameters;
        private final byte[] expected;

        Argon2(HashNotation.Argon2 notation) {
            super((long) notation.kibibytes() * notation.passes() * 3);
            int type =
                    switch (notation.variant()) {
                        case "id" -> Argon2Parameters.ARGON2_id;
                        case "i" -> Argon2Parameters.ARGON2_i;
                        default -> Argon2Parameters.ARGON2_d;
                    };
            parameters = new Argon2Parameters.Builder(type)
                    .withVersion(notation.version())
                    .withMemoryAsKB(notation.kibibytes())
                    .withIterations(notation.passes())
                    .withParallelism(notation.lanes())
                    .withSalt(Base64.getDecoder().decode(notation.salt()))
                    .build();
            expected = Base64.getDecoder().decode(notation.hash());
        }

        @Override
        boolean matches(byte[] password) {
            byte[] hash = new byte[expected.length];
            ArgonMemory.OF_HEAP.run(parameters.getMemory(), () -> {
                Argon2BytesGenerator generator = new Argon2BytesGenerator();
                generator.init(parameters);
                generator.generateBytes(password, hash);
            });
            return MessageDigest.isEqual(expected, hash);
        }
    }

    private static final class Sha1 extends PasswordHash {
        private final byte[] expected;

        Sha1(byte[] expected) {
            super(1);
            this.expected = expected;
        }

        @Override
        boolean matches(byte[] password) {
            try {
                return MessageDigest.isEqual(
                        expected, MessageDigest.getInstance("SHA-1").digest(password));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // every platform has it
            }
        }
    }
}
