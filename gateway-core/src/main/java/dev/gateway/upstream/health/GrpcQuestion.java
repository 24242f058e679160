package dev.gateway.upstream.health;

import dev.gateway.config.upstream.UpstreamConfig.GrpcCheck;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.grpc.GrpcCall;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.ServerName;
import dev.gateway.upstream.stream.EndpointAuthority;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * gRPC health check: a call of {@code grpc.health.v1.Health/Check}. The answer is good if the call succeeds and its status
 * is {@code SERVING}.
 */
final class GrpcQuestion implements Question {
    private static final AsciiString PATH = new AsciiString("/grpc.health.v1.Health/Check");
    private static final String SERVICE = "grpc.health.v1.Health";

    private final String service;
    private final RequestHead head;
    private final HealthMessage message = new HealthMessage();
    private @Nullable ResponseHead response;
    private @Nullable Fields trailers;

    GrpcQuestion(GrpcCheck policy, long timeoutMillis, Upstream upstream, Endpoint endpoint) {
        this.service = policy.service();
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, USER_AGENT);
        GrpcCall.addFields(fields, timeoutMillis);
        this.head = new RequestHead(
                Method.POST,
                Scheme.of(upstream.settings().tls() != null),
                EndpointAuthority.of(endpoint, upstream.settings()),
                PATH,
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    @Override
    public @Nullable String serverName() {
        return ServerName.of(head);
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, false);
        stream.data(HealthMessage.request(service), true);
        stream.flush();
    }

    @Override
    public void onHead(ResponseHead head) {
        response = head;
    }

    @Override
    public void onData(ByteBuf data) {
        message.add(data);
    }

    @Override
    public void onTrailers(Fields received) {
        trailers = received;
    }

    @Override
    public @Nullable String failure() {
        if (response == null) {
            return "did not answer";
        }
        String failure = GrpcCall.failure(response, trailers, SERVICE);
        if (failure == null) {
            return message.failure();
        }
        return failure.endsWith("(NOT_FOUND)") ? failure + ": it does not know the service '" + service + "'" : failure;
    }
}
