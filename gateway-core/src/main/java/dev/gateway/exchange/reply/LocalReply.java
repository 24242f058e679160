package dev.gateway.exchange.reply;

import dev.gateway.exchange.request.RequestChecks;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.ReasonPhrase;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.SharedCaches;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sends the gateway's own responses, for failures and for replies of filters; no other class does. A failure gets a small
 * problem body (RFC 9457), or text if the client prefers text, unless filters choose another body. It also gets {@code
 * Proxy-Status} (RFC 9209). These have the cause only; the log has details. Confined to one event loop.
 */
public final class LocalReply {
    private static final AsciiString ALLOW = new AsciiString("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    private static final AsciiString ALLOW_TUNNELS = ALLOW.concat(new AsciiString(", CONNECT"));
    private static final FieldName ALLOW_FIELD = FieldName.of("Allow");
    private static final AsciiString PROBLEM = new AsciiString("application/problem+json");
    private static final AsciiString TEXT = new AsciiString("text/plain; charset=utf-8");
    private static final AsciiString NO_STORE = new AsciiString("no-store");
    private static final AsciiString SECOND = new AsciiString("1"); // a load balancer may use another gateway by then
    private static final AsciiString MINUTE = new AsciiString("60"); // wrong passwords count for this time
    private static final AsciiString JSON_WORD = new AsciiString("json");
    private static final AsciiString TEXT_WORD = new AsciiString("text/");

    /** Fields that describe a body: they are removed when the body is replaced. */
    private static final List<FieldName> OF_A_BODY = List.of(
            FieldName.CONTENT_ENCODING,
            FieldName.CONTENT_RANGE,
            FieldName.ETAG,
            FieldName.LAST_MODIFIED,
            FieldName.TRAILER,
            FieldName.of("Accept-Ranges"),
            FieldName.of("Age"),
            FieldName.of("Content-Digest"),
            FieldName.of("Content-Disposition"),
            FieldName.of("Content-Language"),
            FieldName.of("Content-Location"),
            FieldName.of("Content-MD5"),
            FieldName.of("Digest"),
            FieldName.of("Expires"),
            FieldName.of("Pragma"),
            FieldName.of("Repr-Digest"),
            FieldName.of("Surrogate-Key"));

    private static final int RANGE_NOT_SATISFIABLE = 416;

    /** With 416 they describe the resource (RFC 9110, section 15.5.17). A client sees from them that it has all of it. */
    private static final Set<FieldName> OF_RANGES = Set.of(FieldName.CONTENT_RANGE, FieldName.of("Accept-Ranges"));

    /** What the gateway itself says in the answer to a failure. */
    private static final List<FieldName> OWN = List.of(
            FieldName.CACHE_CONTROL,
            FieldName.CONTENT_LENGTH,
            FieldName.CONTENT_TYPE,
            FieldName.PROXY_STATUS,
            FieldName.of("grpc-status"),
            FieldName.of("grpc-message"));

    /**
     * What the answer to a failure says besides its cause.
     *
     * @param requestId the request ID, with which a client can ask the operator about the failure; or null
     * @param destination host and port that the client named and that could not be reached, or null. Never an endpoint of
     *     the configuration
     * @param fields further fields, such as a challenge
     * @param body the body for clients that do not call by gRPC
     */
    public record About(
            @Nullable AsciiString requestId, @Nullable AsciiString destination, Fields fields, ErrorBody body) {}

    private final DateField date;

    /** Makes the answers of one event loop, which have this date. */
    public LocalReply(DateField date) {
        this.date = date;
    }

    /**
     * Sends the whole answer to a failure. Nothing may be sent on the stream after it.
     *
     * @param request what is known of the request, or null
     * @param about what else the answer says
     * @return the number of bytes of the body
     */
    public int send(
            ServerStream stream,
            @Nullable RequestHead request,
            Failure failure,
            ExchangeSettings settings,
            About about) {
        int status = failure.status();
        if (request != null && stream.connection().version().multiplexes() && GrpcStatus.isCall(request)) {
            return sendStatus(stream, failure, settings, about);
        }
        Fields fields = new Fields();
        AsciiString reason = reason(request, failure, about);
        ByteBuf body = content(
                fields,
                new ErrorAnswer(status, failure.cause(), false, request, about.requestId),
                about.body,
                failure.advice(),
                reason);
        fields.add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), failure.cause(), about.destination));
        if (status == 405) {
            fields.add(ALLOW_FIELD, allow(settings));
        }
        if ((status == 503 || status == 429) && !about.fields.contains(FieldName.RETRY_AFTER)) {
            fields.add(FieldName.RETRY_AFTER, failure.cause() == Cause.RATE_LIMITED ? MINUTE : SECOND);
        }
        addOthers(fields, about.fields);
        return send(stream, request, new ResponseHead(status, reason, fields, 0), body, settings);
    }

    /**
     * Returns a reason phrase that tells more than the status, null for the usual one. Many programs show nothing else of a
     * refused CONNECT or of a refused request to a destination of their choice.
     */
    private static @Nullable AsciiString reason(@Nullable RequestHead request, Failure failure, About about) {
        String usual = ReasonPhrase.ofError(failure.status());
        if (about.destination != null || (request != null && RequestChecks.isTunnel(request))) {
            return new AsciiString(usual + " by gateway: " + failure.cause().label());
        }
        return failure.advice().isEmpty() ? null : new AsciiString(usual + ": " + failure.advice());
    }

    /** Sets the fields that describe the body of an error, which no cache may store; returns the body. */
    private static ByteBuf content(
            Fields fields, ErrorAnswer answer, ErrorBody chosen, String advice, @Nullable AsciiString reason) {
        fields.set(FieldName.CACHE_CONTROL, NO_STORE);
        if (chosen instanceof ErrorBody.Page page) {
            fields.set(FieldName.CONTENT_TYPE, page.contentType());
            return page.content();
        }
        boolean text = prefersText(answer.request());
        fields.set(FieldName.CONTENT_TYPE, text ? TEXT : PROBLEM);
        // Maven, for one, shows title and detail of a problem instead of the reason phrase, and no other member.
        String detail = advice.isEmpty() && reason != null ? reason.toString() : advice;
        String body = text ? text(answer, advice) : problem(answer, detail);
        return Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8));
    }

    /** Answers a gRPC call, without a body. */
    private int sendStatus(ServerStream stream, Failure failure, ExchangeSettings settings, About about) {
        ResponseHead head = GrpcStatus.failed(failure, about.requestId);
        Fields fields = head.fields();
        fields.add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), failure.cause(), about.destination));
        addOthers(fields, about.fields);
        sign(fields, settings);
        stream.head(head, true);
        stream.flush();
        return 0;
    }

    /** Adds fields of filters, but none that the gateway writes itself. */
    private static void addOthers(Fields answer, Fields given) {
        for (int i = 0; i < given.size(); i++) {
            AsciiString name = given.name(i);
            if (OWN.stream().noneMatch(own -> own.lower().contentEqualsIgnoreCase(name))) {
                answer.add(name, given.value(i));
            }
        }
    }

    private static AsciiString allow(ExchangeSettings settings) {
        return settings.offersTunnels() ? ALLOW_TUNNELS : ALLOW;
    }

    /** Answers {@code OPTIONS} if the gateway is the last recipient of the request. */
    public int sendOptions(ServerStream stream, RequestHead request, ExchangeSettings settings) {
        Fields fields = new Fields();
        fields.add(ALLOW_FIELD, allow(settings));
        return send(stream, request, new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER, settings);
    }

    /** Sends the reply of a filter. */
    public int send(ServerStream stream, RequestHead request, Verdict.Reply reply, ExchangeSettings settings) {
        Failure refusal = reply.refusal();
        if (refusal != null) {
            reply.head().fields().add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), refusal.cause(), null));
        }
        return send(stream, request, reply.head(), reply.body(), settings);
    }

    /** Sends the error of an upstream or a filter with another body. */
    public int sendInstead(
            ServerStream stream, ResponseHead head, ErrorAnswer answer, ErrorBody chosen, ExchangeSettings settings) {
        Fields fields = head.fields();
        for (FieldName name : OF_A_BODY) {
            if (head.status() != RANGE_NOT_SATISFIABLE || !OF_RANGES.contains(name)) {
                fields.remove(name);
            }
        }
        SharedCaches.removeTargeted(fields);
        if (answer.cause() != null) {
            fields.add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), answer.cause(), null));
        }
        ByteBuf body = content(fields, answer, chosen, "", null);
        return send(stream, answer.request(), new ResponseHead(head.status(), null, fields, 0), body, settings);
    }

    private int send(
            ServerStream stream,
            @Nullable RequestHead request,
            ResponseHead head,
            ByteBuf body,
            ExchangeSettings settings) {
        boolean mayHaveBody = head.status() >= 200 && head.status() != 204 && head.status() != 304;
        boolean bodyless = !mayHaveBody || !body.isReadable() || isHead(request);
        boolean sendsBody = !bodyless && stream.hasRoomFor(body);
        int length = bodyless || sendsBody ? body.readableBytes() : 0;
        boolean owned = true;
        try {
            long framed = mayHaveBody ? length : RequestHead.UNKNOWN_LENGTH;
            stream.head(framed(head, framed, settings), !sendsBody);
            if (sendsBody) {
                owned = false;
                stream.data(body, true);
            }
        } finally {
            if (owned) {
                body.release();
            }
        }
        stream.flush();
        return sendsBody ? length : 0;
    }

    private ResponseHead framed(ResponseHead head, long length, ExchangeSettings settings) {
        Fields fields = head.fields();
        if (length == RequestHead.UNKNOWN_LENGTH) {
            fields.remove(FieldName.CONTENT_LENGTH);
        } else {
            fields.set(FieldName.CONTENT_LENGTH, length);
        }
        sign(fields, settings);
        return new ResponseHead(head.status(), head.reason(), fields, length);
    }

    private void sign(Fields fields, ExchangeSettings settings) {
        settings.serverHeader().sign(fields);
        date.addTo(fields);
    }

    private static boolean isHead(@Nullable RequestHead request) {
        return request != null && request.method().equals(Method.HEAD);
    }

    /** Whether {@code Accept} names a kind of text and does not name JSON. */
    private static boolean prefersText(@Nullable RequestHead request) {
        if (request == null) {
            return false;
        }
        Fields fields = request.fields();
        boolean text = false;
        for (int i = fields.find(FieldName.ACCEPT, 0); i >= 0; i = fields.find(FieldName.ACCEPT, i + 1)) {
            AsciiString accept = fields.value(i);
            if (contains(accept, JSON_WORD)) {
                return false;
            }
            text |= contains(accept, TEXT_WORD);
        }
        return text;
    }

    private static boolean contains(AsciiString value, AsciiString lower) {
        byte[] bytes = value.array();
        int start = value.arrayOffset();
        for (int i = 0; i <= value.length() - lower.length(); i++) {
            if (Ascii.equalsLower(bytes, start + i, lower.length(), lower)) {
                return true;
            }
        }
        return false;
    }

    private static String text(ErrorAnswer answer, String advice) {
        Cause cause = answer.cause();
        return answer.status() + " " + ReasonPhrase.ofError(answer.status()) + "\n"
                + (cause == null ? "" : cause.label() + "\n")
                + (advice.isEmpty() ? "" : advice + "\n");
    }

    /**
     * Returns the problem body. All its texts are the gateway's own, or a checked request ID: there is nothing to escape.
     */
    private static String problem(ErrorAnswer answer, String detail) {
        StringBuilder json = new StringBuilder(160)
                .append("{\"type\":\"about:blank\",\"title\":\"")
                .append(ReasonPhrase.ofError(answer.status()))
                .append("\",\"status\":")
                .append(answer.status());
        if (!detail.isEmpty()) {
            json.append(",\"detail\":\"").append(detail).append('"');
        }
        if (answer.cause() != null) {
            json.append(",\"cause\":\"").append(answer.cause().label()).append('"');
        }
        if (answer.requestId() != null) {
            json.append(",\"requestId\":\"").append(answer.requestId()).append('"');
        }
        return json.append("}\n").toString();
    }

    private static String proxyStatus(AsciiString name, Cause cause, @Nullable AsciiString destination) {
        String nextHop = destination != null && isAboutDestination(cause) ? ";next-hop=\"" + destination + '"' : "";
        return name + ";error=" + errorType(cause) + nextHop + ";details=\"" + cause.label() + '"';
    }

    private static boolean isAboutDestination(Cause cause) {
        return switch (cause) {
            case DNS_FAILED, CONNECT_FAILED, CONNECT_TIMEOUT, TLS_FAILED, POLICY_PORT, POLICY_HOST, POLICY_ADDRESS ->
                true;
            default -> false;
        };
    }

    /** Returns the error type of RFC 9209, section 2.3, that is closest to the cause. */
    public static String errorType(Cause cause) {
        return switch (cause) {
            case NO_ROUTE -> "destination_not_found";
            case NO_HEALTHY_ENDPOINT, RETRY_LIMIT, RETRY_BUDGET -> "destination_unavailable";
            case DNS_FAILED -> "dns_error";
            case CONNECT_FAILED -> "connection_refused";
            case CONNECT_TIMEOUT -> "connection_timeout";
            case TLS_FAILED -> "tls_protocol_error";
            case PENDING_OVERFLOW, PENDING_TIMEOUT -> "connection_limit_reached";
            case UPSTREAM_RESET_BEFORE_HEADERS -> "connection_terminated";
            case UPSTREAM_RESET_IN_BODY -> "http_response_incomplete";
            case UPSTREAM_PROTOCOL_ERROR -> "http_protocol_error";
            case UPSTREAM_TIMEOUT, MAX_DURATION -> "http_response_timeout";
            case IDLE_TIMEOUT -> "connection_read_timeout";
            case CLIENT_CLOSED, CLIENT_TIMEOUT, CLIENT_PROTOCOL_ERROR, BODY_TOO_LARGE -> "http_request_error";
            case RATE_LIMITED, AUTHZ_DENIED, PROXY_AUTH, POLICY_PORT, POLICY_HOST, POLICY_SNI -> "http_request_denied";
            case POLICY_ADDRESS -> "destination_ip_prohibited";
            case LOOP_DETECTED -> "proxy_loop_detected";
            case OVERLOAD, DRAIN, ADMIN_CLOSED -> "proxy_internal_response";
            case AUTHZ_ERROR, FILTER_ERROR, UNKNOWN -> "proxy_internal_error";
        };
    }
}
