package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Proxy header sanitizing. Fields that only a trusted proxy may send, since upstreams believe them: who the client is
 * ({@code Forwarded}, {@code X-Forwarded-*}, {@code X-Real-IP}, {@code Client-Cert}, {@code Client-Cert-Chain}), and which
 * trace a request is part of ({@code traceparent}, {@code tracestate}, B3). Names that differ from these in other signs where they have hyphens count as the same: many
 * servers cannot tell {@code X_Real_IP} from {@code X-Real-IP}.
 */
public final class ProxyFields {
    private static final long CLIENT = mask(
            FieldName.FORWARDED,
            FieldName.X_FORWARDED_FOR,
            FieldName.X_FORWARDED_PROTO,
            FieldName.X_FORWARDED_HOST,
            FieldName.X_FORWARDED_PORT,
            FieldName.CLIENT_CERT,
            FieldName.CLIENT_CERT_CHAIN);
    private static final long FORWARDED_X = mask(
            FieldName.X_FORWARDED_FOR,
            FieldName.X_FORWARDED_PROTO,
            FieldName.X_FORWARDED_HOST,
            FieldName.X_FORWARDED_PORT);
    private static final long CERTIFICATES = mask(FieldName.CLIENT_CERT, FieldName.CLIENT_CERT_CHAIN);
    private static final long TRACE = mask(FieldName.TRACEPARENT, FieldName.TRACESTATE);

    private static final AsciiString FORWARDED = new AsciiString("x-forwarded-");
    private static final AsciiString REAL_IP = new AsciiString("x-real-ip");
    private static final AsciiString REQUEST_ID = new AsciiString("x-request-id");
    private static final AsciiString B3 = new AsciiString("b3");
    private static final AsciiString B3_MULTI = new AsciiString("x-b3-");

    private static final AsciiString CLIENT_CERT = FieldName.CLIENT_CERT.lower();
    private static final AsciiString CLIENT_CERT_CHAIN = FieldName.CLIENT_CERT_CHAIN.lower();

    /** Fields by which proxies say that a request has passed them. */
    private static final FieldName[] OF_HOPS = {
        FieldName.VIA,
        FieldName.FORWARDED,
        FieldName.X_FORWARDED_FOR,
        FieldName.X_FORWARDED_PROTO,
        FieldName.X_FORWARDED_HOST,
        FieldName.X_FORWARDED_PORT
    };

    private ProxyFields() {}

    private static long mask(FieldName... names) {
        long mask = 0;
        for (FieldName name : names) {
            mask |= 1L << name.id();
        }
        return mask;
    }

    /** Removes the fields about the client and traces; returns whether there were any. */
    public static boolean removeAll(Fields fields) {
        boolean known = fields.removeKnown(CLIENT | TRACE);
        return fields.removeUnknown(ProxyFields::isAny) || known;
    }

    /** Removes the fields about the client; returns whether there were any. */
    public static boolean removeButTraces(Fields fields) {
        boolean known = fields.removeKnown(CLIENT);
        return fields.removeUnknown(ProxyFields::isOfClient) || known;
    }

    /**
     * Removes what only looks like these fields, and returns whether there was any. A trusted proxy writes them in their own
     * spelling, so these come from its client.
     */
    public static boolean removeTwins(Fields fields) {
        return fields.removeUnknown(ProxyFields::isTwin);
    }

    /**
     * Removes the certificates of the client (RFC 9440, section 2.4), also those that a trusted proxy has sent; returns
     * whether there were any.
     */
    public static boolean removeCertificates(Fields fields) {
        boolean known = fields.removeKnown(CERTIFICATES);
        return fields.removeUnknown(ProxyFields::isCertificate) || known;
    }

    /** Removes {@code X-Forwarded-For}, {@code -Proto}, {@code -Host} and {@code -Port}. */
    public static void removeForwardedLists(Fields fields) {
        fields.removeKnown(FORWARDED_X);
    }

    /** Removes all fields whose names begin with {@code X-Forwarded-}; returns whether there were any. */
    public static boolean removeForwardedX(Fields fields) {
        boolean known = fields.removeKnown(FORWARDED_X);
        return fields.removeUnknown((bytes, start, length) -> startsWith(FORWARDED, bytes, start, length)) || known;
    }

    /**
     * Returns the name of the first field that a proxy has added: {@code Via}, {@code Forwarded}, {@code X-Forwarded-*} or
     * {@code X-Real-IP}. Null if the request has none.
     */
    public static @Nullable AsciiString hop(Fields fields) {
        for (FieldName name : OF_HOPS) {
            int known = fields.find(name, 0);
            if (known >= 0) {
                return fields.name(known);
            }
        }
        int unknown = fields.findUnknown(ProxyFields::isOfHop);
        return unknown < 0 ? null : fields.name(unknown);
    }

    private static boolean isOfHop(byte[] bytes, int start, int length) {
        return startsWith(FORWARDED, bytes, start, length) || is(REAL_IP, bytes, start, length);
    }

    private static boolean isAny(byte[] bytes, int start, int length) {
        int first = bytes[start] | 0x20;
        return (first == 'x' && (isOfClientX(bytes, start, length) || startsWith(B3_MULTI, bytes, start, length)))
                || (first == 'b' && is(B3, bytes, start, length))
                || (first == 'c' && isCertificate(bytes, start, length));
    }

    private static boolean isTwin(byte[] bytes, int start, int length) {
        return isAny(bytes, start, length) && Ascii.isOddToken(bytes, start, length);
    }

    private static boolean isOfClient(byte[] bytes, int start, int length) {
        int first = bytes[start] | 0x20;
        return (first == 'x' && isOfClientX(bytes, start, length))
                || (first == 'c' && isCertificate(bytes, start, length));
    }

    /** Written otherwise, or it would be known. */
    private static boolean isCertificate(byte[] bytes, int start, int length) {
        return is(CLIENT_CERT, bytes, start, length) || is(CLIENT_CERT_CHAIN, bytes, start, length);
    }

    /** Looks on: most names do not begin so. */
    private static boolean isOfClientX(byte[] bytes, int start, int length) {
        return startsWith(FORWARDED, bytes, start, length)
                || is(REAL_IP, bytes, start, length)
                || is(REQUEST_ID, bytes, start, length); // written otherwise, or it would be known
    }

    private static boolean is(AsciiString name, byte[] bytes, int start, int length) {
        return length == name.length() && startsWith(name, bytes, start, length);
    }

    private static boolean startsWith(AsciiString prefix, byte[] bytes, int start, int length) {
        int count = prefix.length();
        if (length < count) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            byte b = bytes[start + i];
            if (Ascii.lower(b) != prefix.byteAt(i) && (prefix.byteAt(i) != '-' || !Ascii.isOdd(b))) {
                return false;
            }
        }
        return true;
    }
}
