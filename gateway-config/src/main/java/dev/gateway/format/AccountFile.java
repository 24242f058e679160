package dev.gateway.format;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Files of accounts: users as htpasswd writes them, bearer tokens, groups, and a name with its password. Each method takes
 * the text of a file, and its path for messages. No message shows what may be a secret.
 */
public final class AccountFile {
    /** How large such a file may be. */
    public static final int MAX_MEBIBYTES = 16;

    private static final int MAX_SOCKS_BYTES = 255;
    private static final int MAX_SHOWN = 60; // characters of a name
    private static final int MOST_FAULTS = 3; // in one message
    private static final String NAME_AND_PASSWORD = "one line of a name, ':' and a password";
    private static final String SHA256 = "sha256:";
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");
    private static final Pattern KEY_DIGEST = Pattern.compile("[0-9A-Fa-f]{64}");
    private static final Pattern TOKEN_DIGEST = Pattern.compile("sha256:[0-9A-Fa-f]{64}");

    private AccountFile() {}

    /**
     * Users and their passwords.
     *
     * @param hashes by user, in the order of the file
     * @param faults what is wrong, line by line
     */
    public record Users(Map<String, HashNotation> hashes, List<String> faults) {
        /** Returns a warning if some hashes are so weak that a reader of the file soon knows the passwords; else null. */
        public @Nullable String weakness() {
            List<String> weak = hashes.values().stream()
                    .map(HashNotation::weakScheme)
                    .filter(Objects::nonNull)
                    .toList();
            return weak.isEmpty()
                    ? null
                    : weak.size() + " of " + hashes.size() + " passwords "
                            + (weak.size() == 1 ? "has a weak hash (" : "have weak hashes (")
                            + String.join(", ", new TreeSet<>(weak))
                            + "), against which a computer tries millions of passwords a second: hash them again"
                            + " with 'htpasswd -B'";
        }
    }

    /**
     * Whose bearer tokens are whose.
     *
     * @param identities by the SHA-256 of their token in hexadecimal, lower case, in the order of the file
     * @param faults what is wrong, line by line
     */
    public record Tokens(Map<String, String> identities, List<String> faults) {}

    /**
     * Groups and their members.
     *
     * @param members by group, in the order of the file
     * @param faults what is wrong, line by line
     */
    public record Groups(Map<String, Set<String>> members, List<String> faults) {}

    /** A name and its password; never printed. */
    public record NameAndPassword(String name, String password) {
        /** Returns them in the form of the Basic scheme (RFC 7617). */
        public String basic() {
            return "Basic "
                    + Base64.getEncoder().encodeToString((name + ':' + password).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    /** Reads lines of {@code user:hash}. Of a user with two lines none counts. */
    public static Users users(Path file, String text) {
        Map<String, HashNotation> hashes = new LinkedHashMap<>();
        Set<String> seen = new HashSet<>();
        List<String> faults = AccountLine.readAll(file, text, "a user, ':' and a hash", line -> {
            String user = line.name();
            if (!seen.add(user)) {
                hashes.remove(user);
                return "user '" + shorten(user) + "' for a second time";
            }
            try {
                hashes.put(user, HashNotations.parse(line.rest()));
                return null;
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            }
        });
        return new Users(Collections.unmodifiableMap(hashes), faults);
    }

    /** Returns what is wrong with lines as a part of one message: the first few, and how many more there are. */
    public static String summary(List<String> faults) {
        int more = faults.size() - MOST_FAULTS;
        return String.join("; ", faults.subList(0, Math.min(MOST_FAULTS, faults.size())))
                + (more > 0 ? "; and " + more + (more == 1 ? " more line is" : " more lines are") + " wrong" : "");
    }

    private static String shorten(String name) {
        return name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN - 3) + "...";
    }

    /**
     * Reads lines of {@code identity:token}, or {@code identity:sha256:} and the token's digest in hexadecimal. A token of
     * two lines is nobody's.
     */
    public static Tokens tokens(Path file, String text) {
        TokenTable table = new TokenTable();
        List<String> faults = AccountLine.readAll(file, text, "an identity, ':' and a token", line -> {
            String token = line.rest();
            boolean hashed = token.startsWith(SHA256);
            if (!(hashed ? TOKEN_DIGEST : TOKEN).matcher(token).matches()) {
                return hashed
                        ? "expected 64 hexadecimal digits after sha256:"
                        : "a token has letters, digits and - . _ ~ + / only, and maybe = at its end";
            }
            return table.add(hashed ? token.substring(SHA256.length()) : digest(token), line.name(), "token");
        });
        return table.tokens(faults);
    }

    /**
     * Reads lines of {@code name:sha256:} and a key's digest in hexadecimal; {@code sha256:} may be left out. A key of two
     * lines is nobody's.
     */
    public static Tokens keys(Path file, String text) {
        TokenTable table = new TokenTable();
        List<String> faults = AccountLine.readAll(file, text, "a name, ':' and the SHA-256 of a key", line -> {
            String digest = line.rest().startsWith(SHA256) ? line.rest().substring(SHA256.length()) : line.rest();
            return KEY_DIGEST.matcher(digest).matches()
                    ? table.add(digest, line.name(), "key")
                    : "expected the SHA-256 of a key, 64 hexadecimal digits, as 'printf %s KEY | sha256sum' prints it";
        });
        return table.tokens(faults);
    }

    /** Whose digests are whose, as they are read. */
    private static final class TokenTable {
        private final Map<String, String> identities = new LinkedHashMap<>();
        private final Set<String> seen = new HashSet<>();

        @Nullable
        String add(String digest, String name, String what) {
            String lower = digest.toLowerCase(Locale.ROOT);
            if (!seen.add(lower)) {
                identities.remove(lower);
                return "a " + what + " for a second time";
            }
            identities.put(lower, name);
            return null;
        }

        Tokens tokens(List<String> faults) {
            return new Tokens(Collections.unmodifiableMap(identities), faults);
        }
    }

    private static String digest(String token) {
        try {
            byte[] bytes = token.getBytes(StandardCharsets.US_ASCII);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every platform has it
        }
    }

    /** Reads lines of {@code group: user user}. A group may have more than one. */
    public static Groups groups(Path file, String text) {
        Map<String, Set<String>> members = new LinkedHashMap<>();
        List<String> faults = AccountLine.readAll(file, text, "a group, ':' and its members", line -> {
            Set<String> group = members.computeIfAbsent(line.name(), name -> new LinkedHashSet<>());
            for (String member : line.rest().split("[ \t]+", -1)) {
                if (!member.isEmpty()) {
                    group.add(member);
                }
            }
            return null;
        });
        return new Groups(Collections.unmodifiableMap(members), faults);
    }

    /**
     * Reads the one line {@code name:password}.
     *
     * @param socks whether they are for a SOCKS proxy (RFC 1929)
     * @throws IllegalArgumentException that says what is wrong
     */
    public static NameAndPassword nameAndPassword(Path file, String text, boolean socks) {
        List<NameAndPassword> found = new ArrayList<>();
        List<String> faults = AccountLine.readAll(file, text, NAME_AND_PASSWORD, line -> {
            NameAndPassword next = new NameAndPassword(line.name(), line.rest());
            String problem = found.isEmpty()
                    ? problem(next, socks)
                    : "a second line: expected one of a name, ':' and a password";
            found.add(next);
            return problem;
        });
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(faults.get(0));
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("nothing in " + file + ": expected " + NAME_AND_PASSWORD);
        }
        return found.get(0);
    }

    private static @Nullable String problem(NameAndPassword pair, boolean socks) {
        if (pair.password.isEmpty()) {
            return "no password after the ':'";
        }
        return socks && Math.max(bytes(pair.name), bytes(pair.password)) > MAX_SOCKS_BYTES
                ? "SOCKS has room for no more than " + MAX_SOCKS_BYTES + " bytes of name, and as many of password"
                : null;
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
