package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.auth.Accounts.Users;
import dev.gateway.format.AccountFile;
import dev.gateway.format.HashNotation;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: credentials and a file of users. The first line of the input is the value of {@code Authorization}; the rest is
 * the file. Nobody gets in but with a name and a password of the file, and no message shows a hash.
 */
final class CredentialsFuzz {
    /** RFC 9110, section 11.4: a scheme and a token68. */
    private static final Pattern CREDENTIALS =
            Pattern.compile("(?<scheme>[!#$%&'*+.^_`|~0-9A-Za-z-]*) +(?<token>[A-Za-z0-9._~+/-]+=*)");

    private static final Path FILE = Path.of("users");
    private static final Pattern FAULT = Pattern.compile("(?s)users:(?<line>[0-9]+):(?<column>[0-9]+): (?<problem>.+)");

    private CredentialsFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        int end = 0;
        while (end < input.length && input[end] != '\n') {
            end++;
        }
        byte[] secret = checkCredentials(new AsciiString(input, 0, end, true));
        String file = new String(
                input, Math.min(end + 1, input.length), Math.max(0, input.length - end - 1), StandardCharsets.UTF_8);
        AccountFile.Users users = AccountFile.users(FILE, file);
        checkFaults(users.faults(), file);
        for (HashNotation hash : users.hashes().values()) {
            assertThat(hash.toString()).doesNotContain("$").isNotEqualTo(file);
            if (!isCheap(hash)) {
                return;
            }
        }
        checkPasswords(Users.parse(FILE, file), users, secret);
    }

    /** Returns the name and the password of basic credentials, null for any others. */
    private static byte @Nullable [] checkCredentials(AsciiString value) {
        Credentials found = Credentials.parse(value);
        Matcher matcher = CREDENTIALS.matcher(value.toString());
        if (value.length() > 4096 || !matcher.matches()) {
            assertThat(found).isNull();
            return null;
        }
        String token = matcher.group("token");
        byte[] basic = matcher.group("scheme").equalsIgnoreCase("basic") ? basic(token) : null;
        if (basic != null) {
            Credentials shown = Objects.requireNonNull(found);
            assertThat(shown.scheme()).isEqualTo(Credentials.Scheme.BASIC);
            assertThat(shown.secret()).isEqualTo(basic);
            assertThat(shown.colon()).isPositive();
        } else if (matcher.group("scheme").equalsIgnoreCase("bearer")) {
            Credentials shown = Objects.requireNonNull(found);
            assertThat(shown.scheme()).isEqualTo(Credentials.Scheme.BEARER);
            assertThat(shown.secret()).isEqualTo(token.getBytes(StandardCharsets.ISO_8859_1));
        } else {
            assertThat(found).isNull();
        }
        assertThat(found == null || found.toString().matches("(BASIC|BEARER) \\*\\*\\*"))
                .isTrue();
        return basic;
    }

    private static byte @Nullable [] basic(String token) {
        try {
            byte[] decoded = Base64.getDecoder().decode(token);
            String text = new String(decoded, StandardCharsets.ISO_8859_1);
            return text.matches("[^:\\x00-\\x1f\\x7f]+:[^\\x00-\\x1f\\x7f]*") ? decoded : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static void checkFaults(List<String> faults, String file) {
        List<String> lines = file.lines().toList();
        for (String fault : faults) {
            Matcher matcher = FAULT.matcher(fault);
            assertThat(matcher.matches()).as(fault).isTrue();
            String line = lines.get(Integer.parseInt(matcher.group("line")) - 1);
            assertThat(Integer.parseInt(matcher.group("column"))).isBetween(1, line.length());
            String rest = line.substring(line.indexOf(':') + 1).strip();
            boolean mayBeSecret = rest.length() > 8
                    && line.indexOf(':') >= 0
                    && !line.substring(0, line.indexOf(':')).contains(rest);
            assertThat(mayBeSecret && matcher.group("problem").contains(rest))
                    .as(fault)
                    .isFalse();
        }
    }

    /** Whether checking a password takes little enough for a fuzzer. */
    private static boolean isCheap(HashNotation hash) {
        return hash instanceof HashNotation.Sha1
                || hash instanceof HashNotation.Apr1
                || (hash instanceof HashNotation.Bcrypt bcrypt && bcrypt.cost() == 4)
                || (hash instanceof HashNotation.ShaCrypt crypt && crypt.rounds() <= 1000)
                || (hash instanceof HashNotation.Argon2 argon && argon.kibibytes() <= 64 && argon.passes() <= 2);
    }

    private static void checkPasswords(Users users, AccountFile.Users read, byte @Nullable [] secret) {
        assertThat(users.hashes().keySet()).isEqualTo(read.hashes().keySet());
        assertThat(users.decoy(7) == null).isEqualTo(users.hashes().isEmpty());
        byte[] password = secret == null ? "never".getBytes(StandardCharsets.US_ASCII) : password(secret);
        users.hashes().forEach((user, hash) -> {
            boolean matches = hash.matches(password);
            assertThat(hash.matches(password)).as("asked again").isEqualTo(matches);
            if (read.hashes().get(user) instanceof HashNotation.Sha1 sha) {
                assertThat(matches).isEqualTo(sha.digest().equals(sha1(password)));
            } else if (matches) {
                byte[] other = Arrays.copyOf(password, Math.max(1, password.length));
                other[0] ^= 1;
                assertThat(hash.matches(other)).isFalse();
            }
        });
    }

    private static byte[] password(byte[] secret) {
        int colon = 0;
        while (secret[colon] != ':') {
            colon++;
        }
        return Arrays.copyOfRange(secret, colon + 1, secret.length);
    }

    private static String sha1(byte[] password) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(password));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
