package dev.gateway.exchange;

import dev.gateway.filter.Verdict;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns a failure, or what a filter replied, into a response: the one class that does. A failure gets a small problem
 * body (RFC 9457), or text for who asks for text, and {@code Proxy-Status} (RFC 9209), which tell the cause and no more:
 * details are for the log. Confined to one event loop.
 */
final class LocalReply {
    private static final AsciiString ALLOW = new AsciiString("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    private static final AsciiString ALLOW_TUNNELS = ALLOW.concat(new AsciiString(", CONNECT"));
    private static final FieldName ALLOW_FIELD = FieldName.of("Allow");
    private static final AsciiString PROBLEM = new AsciiString("application/problem+json");
    private static final AsciiString TEXT = new AsciiString("text/plain; charset=utf-8");
    private static final AsciiString NO_STORE = new AsciiString("no-store");
    private static final AsciiString SECOND = new AsciiString("1"); // a balancer may find another gateway by then
    private static final AsciiString MINUTE = new AsciiString("60"); // for as long failures count
    private static final AsciiString JSON_WORD = new AsciiString("json");
    private static final AsciiString TEXT_WORD = new AsciiString("text/");

    /** With names of its own: those of the JDK come with all that it knows of languages, which takes 30 ms to load. */
    private static final DateTimeFormatter HTTP_DATE = new DateTimeFormatterBuilder()
            .appendText(ChronoField.DAY_OF_WEEK, names("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
            .appendPattern(", dd ")
            .appendText(
                    ChronoField.MONTH_OF_YEAR,
                    names("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
            .appendPattern(" yyyy HH:mm:ss 'GMT'")
            .toFormatter(Locale.ROOT);

    /**
     * What the answer to a failure says besides its cause.
     *
     * @param requestId told to the client so that it can be asked about, or null
     * @param destination host and port that the client named and we did not reach, or null: never one of our endpoints
     * @param fields added to the answer, such as a challenge
     */
    record About(@Nullable AsciiString requestId, @Nullable AsciiString destination, Fields fields) {}

    private final LongSupplier wallClock;
    private AsciiString date = AsciiString.EMPTY_STRING;
    private long dateSecond = -1;

    /**
     * Makes the answers of one event loop.
     *
     * @param wallClock returns milliseconds since 1970
     */
    LocalReply(LongSupplier wallClock) {
        this.wallClock = wallClock;
    }

    /**
     * Answers a failure, in full; nothing may be sent on the stream after it.
     *
     * @param request as much as is known of the request, or null
     * @param about what else the answer says
     * @return the bytes of body sent
     */
    int send(
            ServerStream stream,
            @Nullable RequestHead request,
            Failure failure,
            ExchangeSettings settings,
            About about) {
        int status = failure.status();
        if (request != null && stream.connection().version() == HttpVersion.HTTP_2 && GrpcStatus.isCall(request)) {
            return sendStatus(stream, failure, settings, about);
        }
        boolean text = prefersText(request);
        byte[] body = (text ? text(failure) : problem(failure, about.requestId)).getBytes(StandardCharsets.UTF_8);
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, text ? TEXT : PROBLEM);
        fields.add(FieldName.CACHE_CONTROL, NO_STORE);
        fields.add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), failure.cause(), about.destination));
        if (status == 405) {
            fields.add(ALLOW_FIELD, allow(stream, settings));
        }
        if ((status == 503 || status == 429) && !about.fields.contains(FieldName.RETRY_AFTER)) {
            fields.add(FieldName.RETRY_AFTER, failure.cause() == Cause.RATE_LIMITED ? MINUTE : SECOND);
        }
        for (int i = 0; i < about.fields.size(); i++) {
            fields.add(about.fields.name(i), about.fields.value(i));
        }
        return send(stream, request, new ResponseHead(status, null, fields, 0), Unpooled.wrappedBuffer(body), settings);
    }

    /** Answers a call of gRPC, which has no body to send. */
    private int sendStatus(ServerStream stream, Failure failure, ExchangeSettings settings, About about) {
        ResponseHead head = GrpcStatus.failed(failure, about.requestId);
        Fields fields = head.fields();
        fields.add(FieldName.PROXY_STATUS, proxyStatus(settings.name(), failure.cause(), about.destination));
        for (int i = 0; i < about.fields.size(); i++) {
            fields.add(about.fields.name(i), about.fields.value(i));
        }
        sign(fields, settings);
        stream.head(head, true);
        stream.flush();
        return 0;
    }

    private static AsciiString allow(ServerStream stream, ExchangeSettings settings) {
        return settings.tunnels(stream.connection().listener()) == null ? ALLOW : ALLOW_TUNNELS;
    }

    /** Answers {@code OPTIONS} in the gateway's own name: it is the request's last recipient. */
    int sendOptions(ServerStream stream, RequestHead request, ExchangeSettings settings) {
        Fields fields = new Fields();
        fields.add(ALLOW_FIELD, allow(stream, settings));
        return send(stream, request, new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER, settings);
    }

    /** Answers as a filter wants it. */
    int send(ServerStream stream, RequestHead request, Verdict.Reply reply, ExchangeSettings settings) {
        return send(stream, request, reply.head(), reply.body(), settings);
    }

    private int send(
            ServerStream stream,
            @Nullable RequestHead request,
            ResponseHead head,
            ByteBuf body,
            ExchangeSettings settings) {
        int length = body.readableBytes();
        int status = head.status();
        Fields fields = head.fields();
        boolean mayHaveBody = status >= 200 && status != 204 && status != 304;
        if (mayHaveBody) {
            fields.set(FieldName.CONTENT_LENGTH, Integer.toString(length));
        } else {
            fields.remove(FieldName.CONTENT_LENGTH);
        }
        sign(fields, settings);
        boolean sendsBody = mayHaveBody && length > 0 && !isHead(request);
        ResponseHead framed =
                new ResponseHead(status, head.reason(), fields, mayHaveBody ? length : RequestHead.UNKNOWN_LENGTH);
        if (sendsBody) {
            stream.head(framed, false);
            stream.data(body, true);
        } else {
            body.release();
            stream.head(framed, true);
        }
        stream.flush();
        return sendsBody ? length : 0;
    }

    private void sign(Fields fields, ExchangeSettings settings) {
        AsciiString server = settings.server();
        if (server != null && !fields.contains(FieldName.SERVER)) {
            fields.add(FieldName.SERVER, server);
        }
        if (!fields.contains(FieldName.DATE)) {
            fields.add(FieldName.DATE, date());
        }
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

    private static String text(Failure failure) {
        return failure.status() + " " + title(failure.status()) + "\n"
                + failure.cause().label() + "\n";
    }

    /** Every text in it is of our own making, or a request id that was checked: nothing to escape. */
    private static String problem(Failure failure, @Nullable AsciiString requestId) {
        StringBuilder json = new StringBuilder(160)
                .append("{\"type\":\"about:blank\",\"title\":\"")
                .append(title(failure.status()))
                .append("\",\"status\":")
                .append(failure.status())
                .append(",\"cause\":\"")
                .append(failure.cause().label())
                .append('"');
        if (requestId != null) {
            json.append(",\"requestId\":\"").append(requestId).append('"');
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

    /** Returns the error type of RFC 9209, section 2.3, that says most of the cause. */
    static String errorType(Cause cause) {
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
            case UNKNOWN -> "proxy_internal_error";
        };
    }

    private static String title(int status) {
        return switch (status) {
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 407 -> "Proxy Authentication Required";
            case 408 -> "Request Timeout";
            case 411 -> "Length Required";
            case 413 -> "Content Too Large";
            case 414 -> "URI Too Long";
            case 417 -> "Expectation Failed";
            case 421 -> "Misdirected Request";
            case 426 -> "Upgrade Required";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 501 -> "Not Implemented";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            case 505 -> "HTTP Version Not Supported";
            case 508 -> "Loop Detected";
            default -> status < 500 ? "Client Error" : "Server Error";
        };
    }

    private AsciiString date() {
        long second = wallClock.getAsLong() / 1000;
        if (second != dateSecond) {
            dateSecond = second;
            date = httpDate(second);
        }
        return date;
    }

    /** Returns a moment as HTTP writes it (RFC 9110, section 5.6.7). */
    static AsciiString httpDate(long epochSecond) {
        return new AsciiString(
                HTTP_DATE.format(Instant.ofEpochSecond(epochSecond).atOffset(ZoneOffset.UTC)));
    }

    private static Map<Long, String> names(String... names) {
        Map<Long, String> numbered = new HashMap<>();
        for (String name : names) {
            numbered.put(numbered.size() + 1L, name);
        }
        return numbered;
    }
}
