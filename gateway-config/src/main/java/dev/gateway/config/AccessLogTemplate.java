package dev.gateway.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Access log format: a line as text with fields in braces.
 *
 * @param text as it was written
 */
public record AccessLogTemplate(String text, List<Part> parts) {
    /** What fields mean, by their names, in the order of the documentation. */
    public static final Map<String, String> FIELDS = fields();

    /** The field that is followed by a colon and the name of a header of the request. */
    public static final String REQUEST_HEADER = "requestHeader";

    /** The same of the response. */
    public static final String RESPONSE_HEADER = "responseHeader";

    public AccessLogTemplate {
        parts = List.copyOf(parts);
    }

    /** A piece of a line. */
    public sealed interface Part {}

    /** Text that stands for itself. */
    public record Literal(String text) implements Part {}

    /**
     * A value.
     *
     * @param name a key of {@link #FIELDS}, or one of those with an argument
     * @param argument the header's name, empty if the field has none
     */
    public record Field(String name, String argument) implements Part {}

    private static Map<String, String> fields() {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("time", "when the request's head was there, as 2026-01-31T12:00:00.123Z");
        fields.put("clfTime", "the same as Apache writes it, to the second");
        fields.put("epochMillis", "the same in milliseconds since 1970");
        fields.put("kind", "http, tunnel, websocket or upgrade");
        fields.put("record", "open, interim or close; templates have lines of close only");
        fields.put("listener", "the listener's name");
        fields.put("client", "the client's address, as trusted proxies or the PROXY protocol tell it");
        fields.put("clientPort", "the client's port, if it is known");
        fields.put("peer", "the address at the socket's other end: the client's, or that of a proxy");
        fields.put("peerPort", "the port at the socket's other end");
        fields.put("clientSubject", "the subject of the client's certificate");
        fields.put("tlsProtocol", "such as TLSv1.3");
        fields.put("tlsCipher", "the cipher suite");
        fields.put("serverName", "the name asked for by TLS (SNI)");
        fields.put("tunnelServerName", "the name asked for by TLS inside a tunnel, where sni is log or mustMatch");
        fields.put("identity", "who the client has proven to be");
        fields.put("requestId", "as in X-Request-Id");
        fields.put("traceId", "the id of the trace, if traces are not off");
        fields.put("spanId", "the id of the span: the gateway's own, or the caller's where none is recorded here");
        fields.put("method", "the method");
        fields.put("scheme", "http or https");
        fields.put("authority", "host and port as the client wrote them");
        fields.put("path", "path and query as the client wrote them");
        fields.put("protocol", "such as HTTP/1.1");
        fields.put("requestLine", "method, path (or authority) and protocol");
        fields.put("status", "the response's status");
        fields.put("cause", "why the exchange failed");
        fields.put("detail", "what exactly happened");
        fields.put("endedBy", "who ended it early: client, upstream or gateway");
        fields.put("route", "the route's name");
        fields.put("upstream", "the upstream's name");
        fields.put("endpoint", "host and port of the last attempt");
        fields.put("dialed", "the address that was connected to, if it is not the endpoint itself");
        fields.put("parent", "the parent proxy that it was reached by");
        fields.put("attempts", "how often the request was sent upstream, or tried to be");
        fields.put("tried", "the attempts before the last one: endpoint, and cause or status");
        fields.put("generation", "the configuration's number");
        fields.put("receivedBytes", "of the request's body, or of a tunnel");
        fields.put("sentBytes", "of the response's body, or of a tunnel");
        fields.put("durationMicros", "from the request's head to the end of everything");
        fields.put("tlsMicros", "the TLS handshake of the client's connection, shared by all its requests");
        fields.put("headMicros", "from the first bytes of the head to its last, if it came in pieces (HTTP/1)");
        fields.put("pendingMicros", "of the last attempt: waiting for a connection, its making not counted");
        fields.put("dialMicros", "of the last attempt: making its connection, with DNS and TLS");
        fields.put("connectMicros", "of the last attempt: until it had a connection, however it got it");
        fields.put("responseMicros", "from there to the response's head: the first byte");
        fields.put("bodyMicros", "from there to the end: the last byte");
        fields.put("userAgent", "the header User-Agent");
        fields.put("referer", "the header Referer");
        return Collections.unmodifiableMap(fields);
    }
}
