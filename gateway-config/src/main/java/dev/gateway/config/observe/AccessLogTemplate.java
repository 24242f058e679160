package dev.gateway.config.observe;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Access log format: a line as text with fields in braces.
 *
 * @param text as it was written
 */
public record AccessLogTemplate(String text, List<Part> parts) {
    /** What fields mean, by their names, in the order of the documentation. */
    public static final Map<String, String> FIELDS = fields();

    /** Those that JSON lines have, if they have a value; the others say the same in another way, or are seldom wanted. */
    public static final List<String> IN_JSON = FIELDS.keySet().stream()
            .filter(Predicate.not(Set.of(
                    "clfTime",
                    "epochMillis",
                    "clientPort",
                    "peerPort",
                    "tlsProtocol",
                    "tlsCipher",
                    "serverName",
                    "requestLine")::contains))
            .toList();

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
        fields.put("time", "when the request's head was complete, as 2026-01-31T12:00:00.123Z");
        fields.put("clfTime", "the same time in Apache's format, to the second");
        fields.put("epochMillis", "the same time in milliseconds since 1970");
        fields.put("kind", "http, tunnel, websocket or upgrade");
        fields.put("record", "of a tunnel: open, interim or close; templates write close only");
        fields.put("listener", "the listener's name");
        fields.put(
                "client",
                "the client's address, as trusted proxies or the PROXY protocol report it; unknown if a trusted proxy hides it,"
                        + " unix for a Unix-domain socket");
        fields.put("clientPort", "the client's port, if it is known");
        fields.put("peer", "the address at the socket's other end: the client's, or a proxy's");
        fields.put("peerPort", "the port at the socket's other end");
        fields.put("clientSubject", "the subject of the client's certificate");
        fields.put("tlsProtocol", "the TLS version, such as TLSv1.3");
        fields.put("tlsCipher", "the TLS cipher suite");
        fields.put("serverName", "the name in the client's TLS handshake (SNI)");
        fields.put("tunnelServerName", "the SNI of the TLS handshake inside a tunnel, with sni: log or mustMatch");
        fields.put("identity", "the authenticated user");
        fields.put("requestId", "the ID that upstreams get, too; refused requests also have one");
        fields.put("traceId", "the trace ID, unless tracing.mode is off");
        fields.put("spanId", "the span ID: the gateway's own, or the caller's where the gateway records none");
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
        fields.put("dialed", "the address that the gateway connected to, if it differs from the endpoint");
        fields.put("parent", "the parent proxy, if one was used");
        fields.put("attempts", "how often the gateway sent the request, or tried to");
        fields.put("tried", "the other attempts: endpoint, and cause or status");
        fields.put("hedge", "what became of the attempt at a second endpoint: won, lost or failed");
        fields.put("generation", "the number of the configuration");
        fields.put("receivedBytes", "bytes of the request's body, or received in a tunnel");
        fields.put("sentBytes", "bytes of the response's body, or sent in a tunnel");
        fields.put("durationMicros", "from the request's head to the end of the exchange");
        fields.put("tlsMicros", "the TLS handshake of the client's connection, shared by all its requests");
        fields.put("headMicros", "from the first to the last byte of the head, if it came in pieces (HTTP/1)");
        fields.put("pendingMicros", "of the last attempt: waiting for a connection, without the time to open one");
        fields.put("dialMicros", "of the last attempt: opening its connection, with DNS and TLS");
        fields.put("connectMicros", "of the last attempt: until it had a connection, new or pooled");
        fields.put("responseMicros", "from then to the response's head (time to first byte)");
        fields.put("bodyMicros", "from the response's head to the last byte");
        fields.put("userAgent", "the header User-Agent");
        fields.put("referer", "the header Referer");
        return Collections.unmodifiableMap(fields);
    }
}
