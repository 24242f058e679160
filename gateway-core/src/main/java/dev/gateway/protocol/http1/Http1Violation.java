package dev.gateway.protocol.http1;

import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.Locale;

/** How a peer can break HTTP/1's rules, and the status a client that does is answered. */
enum Http1Violation {
    BARE_LF(400, "a line ends in LF without CR"),
    BAD_REQUEST_LINE(400, "malformed request line"),
    BAD_METHOD(400, "the method is not a token"),
    BAD_TARGET(400, "invalid request target"),
    WEBSOCKET_SCHEME(400, "a request target with the scheme of WebSockets", "use CONNECT for ws:// and wss://"),
    UNKNOWN_SCHEME(400, "a request target with a scheme that is not forwarded", "only http:// and CONNECT are offered"),
    BAD_VERSION(400, "malformed protocol version"),
    UNSUPPORTED_VERSION(505, "protocol version not supported"),
    BAD_STATUS_LINE(400, "malformed status line"),
    HTTP2_FRAME(400, "an HTTP/2 frame instead of a status line; 'protocol: h2c' of the upstream speaks HTTP/2"),
    TLS_RECORD(400, "a TLS record instead of a status line; the upstream may need 'tls'"),
    SSH_GREETING(400, "a greeting of SSH instead of a status line; another port may speak HTTP"),
    NUMBERED_REPLY(400, "a numbered reply, as of SMTP or FTP, instead of a status line; another port may speak HTTP"),
    LINE_TOO_LONG(414, "the first line is too long"),
    METHOD_TOO_LONG(501, "the method is too long"),
    FIELDS_TOO_LARGE(431, "the fields are too large"),
    TOO_MANY_FIELDS(431, "too many fields"),
    OBS_FOLD(400, "a line begins with white space"),
    SPACE_BEFORE_COLON(400, "white space before the colon of a field"),
    BAD_FIELD_NAME(400, "a field name is not a token"),
    BAD_FIELD_VALUE(400, "a control byte in a field value"),
    MISSING_HOST(400, "no Host field"),
    DUPLICATE_HOST(400, "more than one Host field"),
    BAD_HOST(400, "invalid Host"),
    TOO_MANY_CONNECTION_OPTIONS(400, "Connection names too many fields"),
    BAD_CONTENT_LENGTH(400, "malformed Content-Length"),
    DUPLICATE_CONTENT_LENGTH(400, "more than one Content-Length"),
    AMBIGUOUS_LENGTH(400, "both Transfer-Encoding and Content-Length"),
    DUPLICATE_TRANSFER_ENCODING(400, "more than one Transfer-Encoding"),
    BAD_TRANSFER_ENCODING(400, "the final transfer coding is not chunked"),
    UNKNOWN_TRANSFER_CODING(501, "transfer coding not supported"),
    TRANSFER_ENCODING_IN_HTTP_1_0(400, "Transfer-Encoding in HTTP/1.0"),
    CONTENT_IN_CONNECT(400, "content in a CONNECT request"),
    BAD_CHUNK_SIZE(400, "malformed chunk size"),
    BAD_CHUNK_EXTENSION(400, "malformed chunk extension"),
    CHUNK_EXTENSIONS_TOO_LARGE(400, "chunk extensions are too large"),
    BAD_CHUNK_END(400, "no CRLF after a chunk"),
    UNEXPECTED_UPGRADE(400, "101 without an upgrade"),
    BAD_UPGRADE(400, "101 to another protocol than the requested one"),
    UPGRADE_TO_NOTHING(400, "101 without the field Upgrade"),
    UPGRADE_TO_SEVERAL(400, "101 to more than one protocol"),
    UPGRADE_WITHOUT_CONNECTION(400, "101 without 'upgrade' in Connection"),
    UPGRADE_WITHOUT_ACCEPT(400, "101 without Sec-WebSocket-Accept"),
    BAD_ACCEPT(400, "101 with a wrong Sec-WebSocket-Accept"),
    TOO_MANY_INTERIM_RESPONSES(400, "too many interim responses"),
    UNSOLICITED_RESPONSE(400, "bytes without a request");

    private final String kind = name().toLowerCase(Locale.ROOT);
    private final Failure downstream;

    Http1Violation(int status, String detail) {
        this(status, detail, "");
    }

    /** Makes a violation with advice for clients that use the gateway as their proxy. */
    Http1Violation(int status, String detail, String advice) {
        downstream = Failure.of(Cause.CLIENT_PROTOCOL_ERROR, status, detail).advising(advice);
    }

    /** Returns the word that counters have for it. */
    String kind() {
        return kind;
    }

    /**
     * Returns the failure if a client did it.
     *
     * @param limits what the client was held to, which the failure names if it was too much
     */
    Failure downstream(HeadLimits limits) {
        String limit =
                switch (this) {
                    case LINE_TOO_LONG, METHOD_TOO_LONG -> limits.maxFirstLine() + " bytes (limits.maxRequestLine)";
                    case FIELDS_TOO_LARGE -> limits.maxFieldBytes() + " bytes (limits.maxHeaderBytes)";
                    case TOO_MANY_FIELDS -> limits.maxFields() + " (limits.maxHeaders)";
                    default -> null;
                };
        return limit == null
                ? downstream
                : Failure.of(downstream.cause(), downstream.status(), downstream.detail() + ": more than " + limit);
    }

    /** Returns the failure if an upstream did it. */
    Failure upstream() {
        String detail = downstream.detail();
        String more =
                switch (this) {
                    case BAD_VERSION -> detail + ": the answer does not begin as HTTP/1 does";
                    case UNSUPPORTED_VERSION -> detail + ": the upstream does not answer in HTTP/1";
                    case DUPLICATE_CONTENT_LENGTH -> "lengths that differ";
                    default -> detail;
                };
        return Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, more);
    }
}
