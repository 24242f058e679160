package dev.gateway.health;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointAuthority;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * gRPC health check: a call of {@code grpc.health.v1.Health/Check}. The answer is good if the call succeeds and its status
 * is {@code SERVING}.
 */
final class GrpcQuestion implements Question {
    private static final AsciiString PATH = new AsciiString("/grpc.health.v1.Health/Check");
    private static final AsciiString TYPE = new AsciiString("application/grpc");
    private static final FieldName STATUS = FieldName.of("grpc-status");
    private static final FieldName TIMEOUT = FieldName.of("grpc-timeout");
    private static final int OK = 200;

    private final String service;
    private final RequestHead head;
    private final HealthMessage message = new HealthMessage();
    private int status;
    private boolean isCall;
    private @Nullable AsciiString grpcStatus;

    GrpcQuestion(ActiveCheck.Grpc policy, long timeoutMillis, Upstream upstream, Endpoint endpoint) {
        this.service = policy.service();
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, TYPE);
        fields.add(FieldName.TE, "trailers");
        fields.add(FieldName.USER_AGENT, USER_AGENT);
        fields.add(TIMEOUT, timeout(timeoutMillis));
        this.head = new RequestHead(
                Method.POST,
                Scheme.of(upstream.settings().tls() != null),
                EndpointAuthority.of(endpoint, upstream.settings()),
                PATH,
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    /** Writes a time in the format of gRPC, which has at most eight digits. */
    private static String timeout(long millis) {
        return millis < 100_000_000 ? millis + "m" : millis / 1000 + "S";
    }

    @Override
    public StreamKind kind() {
        return StreamKind.CHECK;
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, false);
        stream.data(HealthMessage.request(service), true);
        stream.flush();
    }

    @Override
    public void onHead(ResponseHead response) {
        status = response.status();
        AsciiString type = response.fields().first(FieldName.CONTENT_TYPE);
        isCall = type != null && type.regionMatches(true, 0, TYPE, 0, TYPE.length());
        grpcStatus = response.fields().first(STATUS); // if the head is the whole answer, as of a failed call
    }

    @Override
    public void onData(ByteBuf data) {
        message.add(data);
    }

    @Override
    public void onTrailers(Fields trailers) {
        AsciiString told = trailers.first(STATUS);
        grpcStatus = told == null ? grpcStatus : told;
    }

    @Override
    public @Nullable String failure() {
        if (status != OK) {
            return "answered " + status;
        } else if (!isCall) {
            return "answered with something else than gRPC";
        } else if (grpcStatus == null) {
            return "answered without grpc-status";
        } else if (!grpcStatus.contentEquals("0")) {
            return "answered grpc-status " + described(grpcStatus);
        }
        return message.failure();
    }

    private String described(AsciiString code) {
        return switch (code.toString()) {
            case "4" -> "4 (DEADLINE_EXCEEDED)";
            case "5" -> "5 (NOT_FOUND): it does not know the service '" + service + "'";
            case "7" -> "7 (PERMISSION_DENIED)";
            case "12" -> "12 (UNIMPLEMENTED): it has no grpc.health.v1.Health";
            case "14" -> "14 (UNAVAILABLE)";
            case "16" -> "16 (UNAUTHENTICATED)";
            default -> code.length() <= 3 ? code.toString() : "that is none";
        };
    }
}
