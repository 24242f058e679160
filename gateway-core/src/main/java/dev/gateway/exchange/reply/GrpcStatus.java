package dev.gateway.exchange.reply;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The status of gRPC calls, which comes at the end of a response with status 200. For calls to upstreams and for own
 * answers.
 */
public final class GrpcStatus {
    private static final FieldName STATUS = FieldName.of("grpc-status");
    private static final FieldName MESSAGE = FieldName.of("grpc-message");
    private static final FieldName TIMEOUT = FieldName.of("grpc-timeout");

    /** More than a call waits for an answer, whatever its client says. */
    static final long MOST_TIMEOUT_MILLIS = TimeUnit.HOURS.toMillis(1);

    private static final int MOST_DIGITS = 8;
    private static final AsciiString TYPE = new AsciiString("application/grpc");

    /** gRPC-Web has its trailers in the body, which the gateway does not read. */
    private static final AsciiString WEB = new AsciiString("application/grpc-web");

    /**
     * UNAVAILABLE and DATA_LOSS are failures of the server. A client could cause the others on purpose: UNIMPLEMENTED by an
     * unknown method, INTERNAL by an invalid message, UNKNOWN by any error.
     */
    private static final Set<AsciiString> FAILURES = Set.of(new AsciiString("14"), new AsciiString("15"));

    private GrpcStatus() {}

    /** Whether a request is a gRPC call. */
    public static boolean isCall(RequestHead head) {
        AsciiString type = head.fields().first(FieldName.CONTENT_TYPE);
        return startsWith(type, TYPE) && !startsWith(type, WEB);
    }

    /** Whether a request is a call of gRPC or gRPC-Web: its client reads errors from fields, and ignores their body. */
    public static boolean isForPrograms(@Nullable RequestHead head) {
        return head != null && startsWith(head.fields().first(FieldName.CONTENT_TYPE), TYPE);
    }

    /**
     * Returns how long the client of a call waits, in milliseconds: at least one, and an hour at most. 0 if it does not say, or
     * not in the format of gRPC.
     */
    public static long timeoutMillis(RequestHead call) {
        AsciiString text = call.fields().first(TIMEOUT);
        int digits = text == null ? 0 : text.length() - 1;
        if (text == null || digits < 1 || digits > MOST_DIGITS) {
            return 0;
        }
        long nanos = nanos(text.charAt(digits));
        long count = 0;
        for (int i = 0; i < digits; i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9') {
                return 0;
            }
            count = count * 10 + digit - '0';
        }
        long most = TimeUnit.MILLISECONDS.toNanos(MOST_TIMEOUT_MILLIS);
        long all = nanos > 0 && count > most / nanos ? most : count * nanos;
        return nanos == 0 ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(all));
    }

    private static long nanos(char unit) {
        return switch (unit) {
            case 'H' -> TimeUnit.HOURS.toNanos(1);
            case 'M' -> TimeUnit.MINUTES.toNanos(1);
            case 'S' -> TimeUnit.SECONDS.toNanos(1);
            case 'm' -> TimeUnit.MILLISECONDS.toNanos(1);
            case 'u' -> TimeUnit.MICROSECONDS.toNanos(1);
            case 'n' -> 1;
            default -> 0;
        };
    }

    /** Returns the gateway's own answer to a call: a head without a body (gRPC's "Trailers-Only"). */
    public static ResponseHead failed(Failure failure, @Nullable AsciiString requestId) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, TYPE);
        fields.add(STATUS, Integer.toString(of(failure)));
        String cause = failure.cause().label();
        fields.add(MESSAGE, requestId == null ? cause : cause + ", request " + requestId); // nothing to escape
        return new ResponseHead(200, null, fields, RequestHead.UNKNOWN_LENGTH);
    }

    /** Returns the gRPC status for a failure: as gRPC clients map the HTTP status, or a more exact one. */
    private static int of(Failure failure) {
        return switch (failure.cause()) {
            case UPSTREAM_TIMEOUT, IDLE_TIMEOUT, MAX_DURATION, CLIENT_TIMEOUT -> 4; // DEADLINE_EXCEEDED
            case BODY_TOO_LARGE, RATE_LIMITED -> 8; // RESOURCE_EXHAUSTED
            default ->
                switch (failure.status()) {
                    case 400 -> 13; // INTERNAL
                    case 401, 407 -> 16; // UNAUTHENTICATED
                    case 403 -> 7; // PERMISSION_DENIED
                    case 404, 405, 501 -> 12; // UNIMPLEMENTED
                    case 431 -> 8; // RESOURCE_EXHAUSTED
                    case 429, 502, 503, 504 -> 14; // UNAVAILABLE
                    default -> 2; // UNKNOWN
                };
        };
    }

    /** Whether a response is that of a gRPC call. */
    public static boolean isCall(ResponseHead head) {
        if (head.status() != 200) {
            return false;
        }
        AsciiString type = head.fields().first(FieldName.CONTENT_TYPE);
        return startsWith(type, TYPE) && !startsWith(type, WEB);
    }

    /** Whether these fields have the status of a call. The fields of a head have it if no body follows. */
    public static boolean isTold(Fields fields) {
        return fields.first(STATUS) != null;
    }

    private static boolean startsWith(@Nullable AsciiString value, AsciiString start) {
        return value != null && value.regionMatches(true, 0, start, 0, start.length());
    }

    /** Returns the HTTP status that corresponds to the fields at the end of a call. */
    public static int toHttp(Fields last) {
        AsciiString status = last.first(STATUS);
        return status != null && FAILURES.contains(status) ? 503 : 200;
    }
}
