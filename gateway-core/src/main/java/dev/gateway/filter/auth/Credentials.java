package dev.gateway.filter.auth;

import dev.gateway.message.Ascii;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** What a client shows to prove who it is: never printed. Immutable, as long as nobody writes to the secret. */
public final class Credentials {
    private static final int MAX_BYTES = 4096;

    private final Scheme scheme;
    private final byte[] secret;

    private Credentials(Scheme scheme, byte[] secret) {
        this.scheme = scheme;
        this.secret = secret;
    }

    /** The kinds of credentials. */
    public enum Scheme {
        BASIC,
        BEARER,
        CERTIFICATE
    }

    private static final AsciiString BASIC = new AsciiString("basic");
    private static final AsciiString BEARER = new AsciiString("bearer");

    /**
     * Returns what a {@code Proxy-Authorization} field says (RFC 9110, section 11.4); null if it is of another kind, or
     * malformed.
     */
    public static @Nullable Credentials parse(AsciiString value) {
        byte[] bytes = value.array();
        int start = value.arrayOffset();
        int end = start + value.length();
        if (value.length() > MAX_BYTES) {
            return null;
        }
        int at = start;
        while (at < end && Ascii.isToken(bytes[at])) {
            at++;
        }
        int from = at;
        while (from < end && bytes[from] == ' ') {
            from++;
        }
        if (from == at || !isToken(bytes, from, end)) {
            return null;
        }
        byte[] secret = Arrays.copyOfRange(bytes, from, end);
        if (Ascii.equalsLower(bytes, start, at - start, BASIC)) {
            return basic(secret);
        }
        return Ascii.equalsLower(bytes, start, at - start, BEARER) ? new Credentials(Scheme.BEARER, secret) : null;
    }

    /** Makes credentials of a certificate that is verified already. */
    static Credentials certificate(String commonName) {
        return new Credentials(Scheme.CERTIFICATE, commonName.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable Credentials basic(byte[] base64) {
        byte[] decoded;
        try {
            decoded = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            return null;
        }
        Credentials credentials = new Credentials(Scheme.BASIC, decoded);
        for (byte b : decoded) {
            if ((b >= 0 && b < ' ') || b == 0x7f) {
                return null; // RFC 7617, section 2
            }
        }
        return credentials.colon() > 0 ? credentials : null;
    }

    public Scheme scheme() {
        return scheme;
    }

    /**
     * Returns the user, a colon and the password (RFC 7617); or the token (RFC 6750); or, of a certificate, the common
     * name.
     */
    byte[] secret() {
        return secret;
    }

    /** Returns where the user ends, -1 if there is no colon; 0 is a user without a name. */
    int colon() {
        for (int i = 0; i < secret.length; i++) {
            if (secret[i] == ':') {
                return i;
            }
        }
        return -1;
    }

    /** Whether this is a token68 of RFC 9110. */
    private static boolean isToken(byte[] bytes, int start, int end) {
        int at = start;
        while (at < end && isTokenByte(bytes[at])) {
            at++;
        }
        int body = at;
        while (at < end && bytes[at] == '=') {
            at++;
        }
        return body > start && at == end;
    }

    private static boolean isTokenByte(byte b) {
        byte lower = Ascii.lower(b);
        return (lower >= 'a' && lower <= 'z')
                || (b >= '0' && b <= '9')
                || b == '-'
                || b == '.'
                || b == '_'
                || b == '~'
                || b == '+'
                || b == '/';
    }

    @Override
    public String toString() {
        return scheme + " ***";
    }
}
