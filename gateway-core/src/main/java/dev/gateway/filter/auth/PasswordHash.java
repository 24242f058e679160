package dev.gateway.filter.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.Md5Crypt;
import org.apache.commons.codec.digest.Sha2Crypt;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.bouncycastle.crypto.params.Argon2Parameters;

/**
 * A password as a users file keeps it. Immutable. Checking one may take long and much memory, on purpose: never on an
 * event loop.
 */
abstract class PasswordHash {
    private static final Pattern BCRYPT = Pattern.compile("\\$2[aby]\\$([0-9]{2})\\$[./A-Za-z0-9]{53}");
    private static final Pattern ARGON2 = Pattern.compile(
            "\\$argon2(id|i|d)\\$v=(16|19)\\$m=([0-9]{1,8}),t=([0-9]{1,4}),p=([0-9]{1,3})\\$([A-Za-z0-9+/]{11,})\\$([A-Za-z0-9+/]{16,})");
    private static final Pattern APR1 = Pattern.compile("\\$apr1\\$[./A-Za-z0-9]{1,8}\\$[./A-Za-z0-9]{22}");
    private static final Pattern SHA2 = Pattern.compile(
            "\\$([56])\\$(?:rounds=([1-9][0-9]{3,5})\\$)?[./A-Za-z0-9]{1,16}\\$(?:[./A-Za-z0-9]{43}){1,2}");
    private static final Pattern SHA1 = Pattern.compile("\\{SHA}([A-Za-z0-9+/]{27}=)");

    private static final int MAX_BCRYPT_COST = 16;
    private static final int MAX_ARGON2_KIB = 256 * 1024;

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

    /**
     * Reads a hash.
     *
     * @throws IllegalArgumentException if it is of no kind that is known; the message does not show it, because it might
     *     be a password
     */
    static PasswordHash parse(String text) {
        Matcher matcher = BCRYPT.matcher(text);
        if (matcher.matches()) {
            int cost = Integer.parseInt(matcher.group(1));
            check(cost >= 4 && cost <= MAX_BCRYPT_COST, "a bcrypt cost from 4 to " + MAX_BCRYPT_COST);
            return new PasswordHash(60L << cost) {
                @Override
                boolean matches(byte[] password) {
                    return OpenBSDBCrypt.checkPassword(text, password);
                }
            };
        }
        matcher = ARGON2.matcher(text);
        if (matcher.matches()) {
            return new Argon2(matcher);
        }
        if (APR1.matcher(text).matches()) {
            return new Crypt(text, 500) {
                @Override
                String hash(byte[] password) {
                    return Md5Crypt.apr1Crypt(password, text);
                }
            };
        }
        matcher = SHA2.matcher(text);
        if (matcher.matches()) {
            boolean sha256 = matcher.group(1).equals("5");
            int hashLength = text.length() - text.lastIndexOf('$') - 1;
            check(hashLength == (sha256 ? 43 : 86), "a hash of 43 characters for $5$, of 86 for $6$");
            long rounds = matcher.group(2) == null ? 5000 : Long.parseLong(matcher.group(2));
            return new Crypt(text, rounds) {
                @Override
                String hash(byte[] password) {
                    return sha256 ? Sha2Crypt.sha256Crypt(password, text) : Sha2Crypt.sha512Crypt(password, text);
                }
            };
        }
        matcher = SHA1.matcher(text);
        if (matcher.matches()) {
            return new Sha1(Base64.getDecoder().decode(matcher.group(1)));
        }
        throw new IllegalArgumentException(
                "neither bcrypt ($2y$), argon2 ($argon2id$), SHA-crypt ($5$, $6$), MD5 ($apr1$)"
                        + " nor {SHA}: write it by htpasswd -B");
    }

    private static void check(boolean condition, String expected) {
        if (!condition) {
            throw new IllegalArgumentException("expected " + expected);
        }
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

        Argon2(Matcher phc) {
            super(Long.parseLong(phc.group(3)) * Integer.parseInt(phc.group(4)) * 3);
            int kib = Integer.parseInt(phc.group(3));
            int passes = Integer.parseInt(phc.group(4));
            int lanes = Integer.parseInt(phc.group(5));
            check(
                    lanes >= 1 && passes >= 1 && kib >= 8 * lanes,
                    "argon2 with t and p of at least 1, and m of at least 8p");
            check(kib <= MAX_ARGON2_KIB, "argon2 with m=" + MAX_ARGON2_KIB + " (256 MiB) at most");
            int type =
                    switch (phc.group(1)) {
                        case "id" -> Argon2Parameters.ARGON2_id;
                        case "i" -> Argon2Parameters.ARGON2_i;
                        default -> Argon2Parameters.ARGON2_d;
                    };
            parameters = new Argon2Parameters.Builder(type)
                    .withVersion(Integer.parseInt(phc.group(2)))
                    .withMemoryAsKB(kib)
                    .withIterations(passes)
                    .withParallelism(lanes)
                    .withSalt(Base64.getDecoder().decode(phc.group(6)))
                    .build();
            expected = Base64.getDecoder().decode(phc.group(7));
        }

        @Override
        boolean matches(byte[] password) {
            Argon2BytesGenerator generator = new Argon2BytesGenerator();
            generator.init(parameters);
            byte[] hash = new byte[expected.length];
            generator.generateBytes(password, hash);
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
