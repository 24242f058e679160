package dev.gateway.message;

import io.netty.util.AsciiString;

/**
 * Hop-by-hop header removal. Removes what concerns one connection only and so must not be forwarded (RFC 9110, section
 * 7.6.1): the fields that {@code Connection} names and a fixed set. Called on the exchange's loop before the gateway adds
 * fields of its own, so that no peer can have those removed.
 */
public final class HopByHop {
    private static final AsciiString TRAILERS = new AsciiString("trailers");

    private static final long ALWAYS = mask(
            FieldName.CONNECTION,
            FieldName.KEEP_ALIVE,
            FieldName.PROXY_CONNECTION,
            FieldName.TRANSFER_ENCODING,
            FieldName.TE,
            FieldName.UPGRADE,
            FieldName.HTTP2_SETTINGS);

    private static final int UPGRADE_REQUIRED = 426;

    private static final long UPGRADE = mask(FieldName.UPGRADE);
    private static final long CREDENTIALS = mask(FieldName.PROXY_AUTHORIZATION);
    private static final long REQUEST = ALWAYS | CREDENTIALS;

    private static final long RESPONSE =
            ALWAYS | mask(FieldName.PROXY_AUTHENTICATE, FieldName.PROXY_AUTHENTICATION_INFO);

    /** Named by {@code Connection} or not: what frames or routes a message, or tells where it came from, stays. */
    private static final long KEPT = mask(
            FieldName.HOST,
            FieldName.CONTENT_LENGTH,
            FieldName.VIA,
            FieldName.FORWARDED,
            FieldName.X_FORWARDED_FOR,
            FieldName.X_FORWARDED_PROTO,
            FieldName.X_FORWARDED_HOST,
            FieldName.X_FORWARDED_PORT,
            FieldName.X_REQUEST_ID);

    /** RFC 9110, section 6.5.1: framing, routing, modifiers, authentication, control data, content format. */
    private static final long NOT_IN_TRAILERS = REQUEST
            | RESPONSE
            | KEPT
            | mask(
                    FieldName.TRAILER,
                    FieldName.EXPECT,
                    FieldName.MAX_FORWARDS,
                    FieldName.CACHE_CONTROL,
                    FieldName.RANGE,
                    FieldName.IF_MATCH,
                    FieldName.IF_NONE_MATCH,
                    FieldName.IF_MODIFIED_SINCE,
                    FieldName.IF_UNMODIFIED_SINCE,
                    FieldName.IF_RANGE,
                    FieldName.AUTHORIZATION,
                    FieldName.WWW_AUTHENTICATE,
                    FieldName.COOKIE,
                    FieldName.SET_COOKIE,
                    FieldName.DATE,
                    FieldName.LOCATION,
                    FieldName.RETRY_AFTER,
                    FieldName.VARY,
                    FieldName.CONTENT_ENCODING,
                    FieldName.CONTENT_TYPE,
                    FieldName.CONTENT_RANGE);

    private static final FieldName[] NOT_IN_TRAILERS_EITHER = {
        FieldName.of("Age"), FieldName.of("Expires"), FieldName.of("Pragma"), FieldName.of("Authentication-Info")
    };

    private HopByHop() {}

    private static long mask(FieldName... names) {
        long mask = 0;
        for (FieldName name : names) {
            mask |= 1L << name.id();
        }
        return mask;
    }

    /**
     * Strips a request. {@code TE} stays only as {@code TE: trailers}, if the client sent that element: it is all that
     * the gateway can promise. (An HTTP/1.1 writer adds {@code Connection: TE} to it.)
     */
    public static void stripRequest(Fields fields) {
        boolean trailers = fields.hasElement(FieldName.TE, TRAILERS);
        removeNamed(fields);
        fields.removeKnown(ALWAYS);
        if (trailers) {
            fields.add(FieldName.TE, TRAILERS);
        }
    }

    /** Strips what a client has shown to this gateway, if to anybody; after those have seen it who check it. */
    public static void stripCredentials(Fields fields) {
        fields.removeKnown(CREDENTIALS);
    }

    /**
     * Strips a response, interim or final. {@code Upgrade} stays in 426 (Upgrade Required), which says by it what the client must
     * do (RFC 9110, section 15.5.22). Elsewhere it only offers what the upstream's connection can do. (HTTP/2 does not carry it,
     * and an HTTP/1.1 writer adds {@code Connection: Upgrade} to it.)
     */
    public static void stripResponse(int status, Fields fields) {
        removeNamed(fields);
        fields.removeKnown(status == UPGRADE_REQUIRED ? RESPONSE & ~UPGRADE : RESPONSE);
    }

    /** Strips trailers, in either direction, of what a recipient might merge into the head to bad effect. */
    public static void stripTrailers(Fields trailers) {
        trailers.removeKnown(NOT_IN_TRAILERS);
        for (FieldName name : NOT_IN_TRAILERS_EITHER) {
            trailers.remove(name);
        }
    }

    private static void removeNamed(Fields fields) {
        // Counted, because removing others moves them; themselves they stay until all have been read.
        int position = nthConnection(fields, 0);
        for (int n = 1; position >= 0; n++) {
            removeElements(fields, fields.valueStart(position), fields.valueLength(position));
            position = nthConnection(fields, n);
        }
    }

    private static int nthConnection(Fields fields, int n) {
        int position = fields.find(FieldName.CONNECTION, 0);
        for (int i = 0; i < n && position >= 0; i++) {
            position = fields.find(FieldName.CONNECTION, position + 1);
        }
        return position;
    }

    private static void removeElements(Fields fields, int start, int length) {
        byte[] bytes = fields.array();
        int limit = start + length;
        while (start < limit) {
            int end = start;
            while (end < limit && Ascii.isToken(bytes[end])) {
                end++;
            }
            if (end == start) {
                start++; // a comma, white space, or what is no name
                continue;
            }
            int id = FieldName.idOf(bytes, start, end - start);
            if (id == 0) {
                fields.removeUnknown(start, end - start);
            } else if (((KEPT | ALWAYS) & 1L << id) == 0) {
                fields.removeKnown(1L << id);
            }
            start = end;
        }
    }
}
