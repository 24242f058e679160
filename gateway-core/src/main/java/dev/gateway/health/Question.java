package dev.gateway.health;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint is asked, and what its answer means. One object for each time that it is asked; confined to the event
 * loop of its {@link Probe}.
 */
interface Question {
    /** Names who asks, as servers log it. */
    String USER_AGENT = "gateway-health-check";

    /** Returns what an endpoint of the upstream is asked now. */
    static Question of(ActiveCheck policy, Upstream upstream, Endpoint endpoint) {
        if (policy.request() instanceof ActiveCheck.Http http) {
            return new HttpQuestion(http, upstream, endpoint);
        } else if (policy.request() instanceof ActiveCheck.Grpc grpc) {
            return new GrpcQuestion(grpc, policy.timeoutMillis(), upstream, endpoint);
        }
        return new TcpQuestion(upstream, endpoint);
    }

    /** Returns the kind of stream that it takes. */
    StreamKind kind();

    /** Sends it. */
    void send(ClientStream stream);

    /** Takes the head of the answer, which is not an interim one. */
    void onHead(ResponseHead response);

    /** Takes a part of the answer, which stays the caller's. */
    default void onData(ByteBuf data) {}

    /** Takes the fields at the end of the answer. */
    default void onTrailers(Fields trailers) {}

    /**
     * Judges the answer when it is complete.
     *
     * @return why the endpoint is not well, null if it is
     */
    @Nullable
    String failure();
}
