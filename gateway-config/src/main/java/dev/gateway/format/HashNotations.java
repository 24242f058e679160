package dev.gateway.format;

import dev.gateway.format.HashNotation.Apr1;
import dev.gateway.format.HashNotation.Argon2;
import dev.gateway.format.HashNotation.Bcrypt;
import dev.gateway.format.HashNotation.Sha1;
import dev.gateway.format.HashNotation.ShaCrypt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Password hash parser: tells hashes of passwords by how they are written. */
public final class HashNotations {
    private static final Pattern BCRYPT = Pattern.compile("\\$2[aby]\\$(0[4-9]|1[0-6])\\$[./A-Za-z0-9]{53}");
    private static final Pattern ARGON2 = Pattern.compile(
            "\\$argon2(id|i|d)\\$v=(16|19)\\$m=([0-9]{1,8}),t=([0-9]{1,4}),p=([0-9]{1,3})\\$([A-Za-z0-9+/]{11,})\\$([A-Za-z0-9+/]{16,})");
    private static final Pattern APR1 = Pattern.compile("\\$apr1\\$[./A-Za-z0-9]{1,8}\\$[./A-Za-z0-9]{22}");
    private static final Pattern SHA_CRYPT = Pattern.compile(
            "\\$([56])\\$(?:rounds=([1-9][0-9]{3,5})\\$)?[./A-Za-z0-9]{1,16}\\$([./A-Za-z0-9]{43}|[./A-Za-z0-9]{86})");
    private static final Pattern SHA1 = Pattern.compile("\\{SHA}([A-Za-z0-9+/]{27}=)");
    private static final Pattern HTDIGEST = Pattern.compile("[^:]*:[0-9a-f]{32}");

    private static final int DEFAULT_ROUNDS = 5000; // of SHA-crypt

    private HashNotations() {}

    /**
     * Reads a hash.
     *
     * @throws IllegalArgumentException if it is of no kind that is known; the message does not show it, because it might
     *     be a password
     */
    public static HashNotation parse(String text) {
        Matcher matcher = BCRYPT.matcher(text);
        if (matcher.matches()) {
            return new Bcrypt(text, Integer.parseInt(matcher.group(1)));
        }
        matcher = ARGON2.matcher(text);
        if (matcher.matches()) {
            return argon2(matcher);
        }
        matcher = SHA_CRYPT.matcher(text);
        if (matcher.matches()) {
            int bits = matcher.group(1).equals("5") ? 256 : 512;
            if (matcher.group(3).length() == (bits == 256 ? 43 : 86)) {
                int rounds = matcher.group(2) == null ? DEFAULT_ROUNDS : Integer.parseInt(matcher.group(2));
                return new ShaCrypt(text, bits, rounds);
            }
        }
        matcher = SHA1.matcher(text);
        if (matcher.matches()) {
            return new Sha1(matcher.group(1));
        }
        if (APR1.matcher(text).matches()) {
            return new Apr1(text);
        }
        throw new IllegalArgumentException(problem(text));
    }

    private static HashNotation argon2(Matcher matcher) {
        return new Argon2(
                matcher.group(1),
                Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3)),
                Integer.parseInt(matcher.group(4)),
                Integer.parseInt(matcher.group(5)),
                matcher.group(6),
                matcher.group(7));
    }

    private static String problem(String text) {
        if (text.matches("\\$2[aby]\\$.*")) {
            return "a bcrypt hash that is damaged, or whose cost is not from 4 to 16";
        }
        if (text.matches("\\$[56]\\$.*")) {
            return "a SHA-crypt hash that is damaged, or whose rounds are not from 1000 to 999999";
        }
        return HTDIGEST.matcher(text).matches()
                ? "a line of htdigest: write the file with 'htpasswd -B'"
                : "the password is not hashed in a way that is known (bcrypt, argon2, SHA-crypt, MD5 as $apr1$,"
                        + " {SHA}): write the line with 'htpasswd -B'";
    }
}
