package dev.gateway.message;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The name of a header field (RFC 9110, section 5.1). Names the gateway itself acts on are <em>known</em>: they have a
 * small id, so that {@link Fields} finds them without comparing bytes. Immutable and shared between threads.
 */
public final class FieldName {
    private static final int MAX_KNOWN = 64;
    private static final int SLOTS = 512;
    private static final FieldName[] KNOWN = new FieldName[MAX_KNOWN];
    private static final @Nullable FieldName[] TABLE = new @Nullable FieldName[SLOTS];
    private static int knownCount = 1; // 0 means "not known"

    public static final FieldName HOST = known("Host");
    public static final FieldName CONNECTION = known("Connection");
    public static final FieldName CONTENT_LENGTH = known("Content-Length");
    public static final FieldName TRANSFER_ENCODING = known("Transfer-Encoding");
    public static final FieldName KEEP_ALIVE = known("Keep-Alive");
    public static final FieldName PROXY_CONNECTION = known("Proxy-Connection");
    public static final FieldName PROXY_AUTHENTICATE = known("Proxy-Authenticate");
    public static final FieldName PROXY_AUTHENTICATION_INFO = known("Proxy-Authentication-Info");
    public static final FieldName PROXY_AUTHORIZATION = known("Proxy-Authorization");
    public static final FieldName PROXY_STATUS = known("Proxy-Status");
    public static final FieldName TE = known("TE");
    public static final FieldName TRAILER = known("Trailer");
    public static final FieldName UPGRADE = known("Upgrade");
    public static final FieldName HTTP2_SETTINGS = known("HTTP2-Settings");
    public static final FieldName EXPECT = known("Expect");
    public static final FieldName VIA = known("Via");
    public static final FieldName FORWARDED = known("Forwarded");
    public static final FieldName X_FORWARDED_FOR = known("X-Forwarded-For");
    public static final FieldName X_FORWARDED_PROTO = known("X-Forwarded-Proto");
    public static final FieldName X_FORWARDED_HOST = known("X-Forwarded-Host");
    public static final FieldName X_FORWARDED_PORT = known("X-Forwarded-Port");
    public static final FieldName X_REQUEST_ID = known("X-Request-Id");
    public static final FieldName ACCEPT = known("Accept");
    public static final FieldName ACCEPT_ENCODING = known("Accept-Encoding");
    public static final FieldName ACCEPT_LANGUAGE = known("Accept-Language");
    public static final FieldName AUTHORIZATION = known("Authorization");
    public static final FieldName CACHE_CONTROL = known("Cache-Control");
    public static final FieldName CLIENT_CERT = known("Client-Cert");
    public static final FieldName CLIENT_CERT_CHAIN = known("Client-Cert-Chain");
    public static final FieldName CONTENT_ENCODING = known("Content-Encoding");
    public static final FieldName CONTENT_RANGE = known("Content-Range");
    public static final FieldName CONTENT_TYPE = known("Content-Type");
    public static final FieldName COOKIE = known("Cookie");
    public static final FieldName SET_COOKIE = known("Set-Cookie");
    public static final FieldName DATE = known("Date");
    public static final FieldName ETAG = known("ETag");
    public static final FieldName IF_MATCH = known("If-Match");
    public static final FieldName IF_MODIFIED_SINCE = known("If-Modified-Since");
    public static final FieldName IF_NONE_MATCH = known("If-None-Match");
    public static final FieldName IF_RANGE = known("If-Range");
    public static final FieldName IF_UNMODIFIED_SINCE = known("If-Unmodified-Since");
    public static final FieldName LAST_MODIFIED = known("Last-Modified");
    public static final FieldName LOCATION = known("Location");
    public static final FieldName MAX_FORWARDS = known("Max-Forwards");
    public static final FieldName ORIGIN = known("Origin");
    public static final FieldName PRIORITY = known("Priority");
    public static final FieldName RANGE = known("Range");
    public static final FieldName REFERER = known("Referer");
    public static final FieldName RETRY_AFTER = known("Retry-After");
    public static final FieldName SERVER = known("Server");
    public static final FieldName USER_AGENT = known("User-Agent");
    public static final FieldName VARY = known("Vary");
    public static final FieldName WWW_AUTHENTICATE = known("WWW-Authenticate");
    public static final FieldName TRACEPARENT = known("traceparent");
    public static final FieldName TRACESTATE = known("tracestate");
    public static final FieldName SEC_WEBSOCKET_ACCEPT = known("Sec-WebSocket-Accept");
    public static final FieldName SEC_WEBSOCKET_KEY = known("Sec-WebSocket-Key");
    public static final FieldName SEC_WEBSOCKET_VERSION = known("Sec-WebSocket-Version");

    private final AsciiString canonical;
    private final AsciiString lower;
    private final int id;
    private final boolean mayHaveTwins;

    private FieldName(AsciiString canonical, int id) {
        this.canonical = canonical;
        this.lower = canonical.toLowerCase();
        this.id = id;
        this.mayHaveTwins = hasSign(lower);
    }

    private static FieldName known(String name) {
        if (knownCount == MAX_KNOWN) {
            throw new IllegalStateException("more known names than bits in Fields' presence mask");
        }
        FieldName field = new FieldName(new AsciiString(name), knownCount);
        KNOWN[knownCount++] = field;
        int slot = hash(field.lower.array(), field.lower.arrayOffset(), field.lower.length()) & (SLOTS - 1);
        while (TABLE[slot] != null) {
            slot = (slot + 1) & (SLOTS - 1);
        }
        TABLE[slot] = field;
        return field;
    }

    /**
     * Returns the name, the shared known instance where there is one. For configuration time.
     *
     * @throws IllegalArgumentException if the name is not a token of RFC 9110
     */
    public static FieldName of(String name) {
        if (name.isEmpty() || !name.chars().allMatch(c -> c < 128 && Ascii.isToken((byte) c))) {
            throw new IllegalArgumentException("not a field name: \"" + name + "\"");
        }
        byte[] lower = name.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
        int id = idOf(lower, 0, lower.length);
        return id != 0 ? KNOWN[id] : new FieldName(new AsciiString(name), 0);
    }

    /** Returns the known name of an id from {@link #idOf}; the id must not be 0. */
    static FieldName known(int id) {
        return KNOWN[id];
    }

    /** Of the length and three bytes, in upper or lower case: enough to tell the known names apart, and soon made. */
    private static int hash(byte[] bytes, int start, int length) {
        int first = bytes[start] | 0x20;
        int middle = bytes[start + length / 2] | 0x20;
        int last = bytes[start + length - 1] | 0x20;
        return length * 67 + first * 31 + middle * 7 + last;
    }

    /** Returns the id of a known name, in any case, or 0. */
    public static int idOf(byte[] bytes, int start, int length) {
        if (length == 0) {
            return 0;
        }
        int slot = hash(bytes, start, length) & (SLOTS - 1);
        for (FieldName field = TABLE[slot]; field != null; field = TABLE[slot]) {
            if (field.matches(bytes, start, length)) {
                return field.id;
            }
            slot = (slot + 1) & (SLOTS - 1);
        }
        return 0;
    }

    /** Returns the id of a known name, 0 for any other. */
    public int id() {
        return id;
    }

    /** Returns the name as HTTP/2 and HTTP/3 write it. */
    public AsciiString lower() {
        return lower;
    }

    /** Returns the name as it was configured, or as RFCs write it. */
    public AsciiString canonical() {
        return canonical;
    }

    boolean matches(byte[] bytes, int start, int length) {
        return Ascii.equalsLower(bytes, start, length, lower);
    }

    /** Whether there are other names that differ from this one only in signs. */
    boolean mayHaveTwins() {
        return mayHaveTwins;
    }

    /** Whether a name differs from this one, and only in signs: some servers cannot tell {@code X_User} from {@code X-User}. */
    boolean isTwin(byte[] bytes, int start, int length) {
        if (length != lower.length()) {
            return false;
        }
        boolean differs = false;
        for (int i = 0; i < length; i++) {
            byte own = lower.byteAt(i);
            byte other = Ascii.lower(bytes[start + i]);
            if (other != own && !(isSign(own) && isSign(other))) {
                return false;
            }
            differs |= other != own;
        }
        return differs;
    }

    private static boolean hasSign(AsciiString name) {
        for (int i = 0; i < name.length(); i++) {
            if (isSign(name.byteAt(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSign(byte b) {
        return b == '-' || Ascii.isOdd(b);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof FieldName name && lower.equals(name.lower));
    }

    @Override
    public int hashCode() {
        return lower.hashCode();
    }

    @Override
    public String toString() {
        return canonical.toString();
    }
}
