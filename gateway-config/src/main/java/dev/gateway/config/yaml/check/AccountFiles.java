package dev.gateway.config.yaml.check;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.config.yaml.type.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads files of users, tokens and groups for the names in them. No message shows what may be a secret. */
final class AccountFiles {
    private static final int MAX_MEBIBYTES = 16;
    private static final int MAX_SOCKS_BYTES = 255;
    private static final String SHA256 = "sha256:";

    private static final Pattern BCRYPT = Pattern.compile("\\$2[aby]\\$(0[4-9]|1[0-6])\\$[./A-Za-z0-9]{53}");
    private static final Pattern ARGON2 =
            Pattern.compile("\\$argon2(?:id|i|d)\\$v=(?:16|19)\\$m=([0-9]{1,8}),t=([0-9]{1,4}),"
                    + "p=([0-9]{1,3})\\$[A-Za-z0-9+/]{11,}\\$[A-Za-z0-9+/]{16,}");
    private static final int MAX_ARGON2_KIB = 256 * 1024;
    private static final Pattern OTHER_HASH = Pattern.compile("\\$apr1\\$[./A-Za-z0-9]{1,8}\\$[./A-Za-z0-9]{22}"
            + "|\\$[56]\\$(?:rounds=[0-9]{4,7}\\$)?[./A-Za-z0-9]{1,16}\\$[./A-Za-z0-9]{43,86}"
            + "|\\{SHA}[A-Za-z0-9+/]{27}=");
    private static final Pattern DIGEST_FILE = Pattern.compile("[^:]*:[0-9a-f]{32}");
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");
    private static final Pattern TOKEN_DIGEST = Pattern.compile("sha256:[0-9A-Fa-f]{64}");

    private AccountFiles() {}

    /** Looks at what stands after the colon of a line. */
    private interface LineCheck {
        void check(String name, String rest) throws InvalidException;
    }

    /** Returns the users of a file as htpasswd writes it. */
    static Set<String> users(Path file) throws InvalidException {
        Set<String> names = new LinkedHashSet<>();
        read(file, "a user, ':' and a hash", (name, rest) -> {
            hash(rest);
            if (!names.add(name)) {
                throw new InvalidException("user '" + Type.shorten(name) + "' for a second time");
            }
        });
        return names;
    }

    private static void hash(String text) throws InvalidException {
        if (BCRYPT.matcher(text).matches() || OTHER_HASH.matcher(text).matches()) {
            return;
        }
        Matcher argon2 = ARGON2.matcher(text);
        if (argon2.matches()) {
            int kib = Integer.parseInt(argon2.group(1));
            int passes = Integer.parseInt(argon2.group(2));
            int lanes = Integer.parseInt(argon2.group(3));
            if (lanes < 1 || passes < 1 || kib < 8 * lanes || kib > MAX_ARGON2_KIB) {
                throw new InvalidException("argon2 needs t and p of at least 1, and m from 8p to " + MAX_ARGON2_KIB);
            }
            return;
        }
        if (text.matches("\\$2[aby]\\$.*")) {
            throw new InvalidException("a bcrypt hash that is damaged, or whose cost is not from 4 to 16");
        }
        throw new InvalidException(
                DIGEST_FILE.matcher(text).matches()
                        ? "a line of htdigest: write the file with 'htpasswd -B'"
                        : "the password is not hashed in a way that is known (bcrypt, argon2, SHA-crypt, MD5 as $apr1$,"
                                + " {SHA}): write the line with 'htpasswd -B'");
    }

    /** Returns the identities of a file of bearer tokens. */
    static Set<String> tokens(Path file) throws InvalidException {
        Set<String> names = new LinkedHashSet<>();
        Set<String> tokens = new HashSet<>();
        read(file, "an identity, ':' and a token", (name, rest) -> {
            if (rest.startsWith(SHA256)
                    ? !TOKEN_DIGEST.matcher(rest).matches()
                    : !TOKEN.matcher(rest).matches()) {
                throw new InvalidException(
                        rest.startsWith(SHA256)
                                ? "expected 64 hexadecimal digits after sha256:"
                                : "a token has letters, digits and - . _ ~ + / only, and maybe = at its end");
            }
            if (!tokens.add(digest(rest))) {
                throw new InvalidException("a token for a second time");
            }
            names.add(name);
        });
        return names;
    }

    /** Returns the groups of a file. */
    static Set<String> groups(Path file) throws InvalidException {
        Set<String> names = new LinkedHashSet<>();
        read(file, "a group, ':' and its members", (name, rest) -> names.add(name));
        return names;
    }

    /**
     * Checks a file of one name and password.
     *
     * @param socks whether they are for a SOCKS proxy (RFC 1929)
     */
    static void credentials(Path file, boolean socks) throws InvalidException {
        Set<String> names = new HashSet<>();
        read(file, "one line of a name, ':' and a password", (name, rest) -> {
            if (!names.isEmpty()) {
                throw new InvalidException("a second line: expected one of a name, ':' and a password");
            }
            if (rest.isEmpty()) {
                throw new InvalidException("no password after the ':'");
            }
            if (socks && Math.max(bytes(name), bytes(rest)) > MAX_SOCKS_BYTES) {
                throw new InvalidException("SOCKS has room for no more than " + MAX_SOCKS_BYTES
                        + " bytes of name, and as many of password");
            }
            names.add(name);
        });
        if (names.isEmpty()) {
            throw new InvalidException("nothing in " + file + ": expected one line of a name, ':' and a password");
        }
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static void read(Path file, String expected, LineCheck check) throws InvalidException {
        int number = 0;
        for (String raw : (Iterable<String>) text(file).lines()::iterator) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            try {
                int colon = line.indexOf(':');
                String name = colon < 0 ? "" : line.substring(0, colon).strip();
                if (name.isEmpty() || name.chars().anyMatch(Character::isISOControl)) {
                    throw new InvalidException("expected " + expected);
                }
                check.check(name, line.substring(colon + 1).strip());
            } catch (InvalidException e) {
                throw new InvalidException(file + " line " + number + ": " + e.getMessage());
            }
        }
    }

    private static String text(Path file) throws InvalidException {
        String text = TextFiles.read(file, StandardCharsets.UTF_8, MAX_MEBIBYTES);
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }

    /** Returns what tells tokens apart, however they are written. */
    private static String digest(String token) {
        if (token.startsWith(SHA256)) {
            return token.substring(SHA256.length()).toLowerCase(Locale.ROOT);
        }
        try {
            byte[] bytes = token.getBytes(StandardCharsets.US_ASCII);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every platform has it
        }
    }
}
