package dev.gateway.upstream.health;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A request of the gateway's own, such as that of a health check, and what its answer means. One object for each request;
 * confined to the event loop of its {@link Probe}.
 */
public interface Question {
    /** The User-Agent of health checks, which servers log. */
    String USER_AGENT = "gateway-health-check";

    /** Returns the kind of stream that it needs. */
    default StreamKind kind() {
        return StreamKind.CHECK;
    }

    /** Sends the request. */
    void send(ClientStream stream);

    /** The final head of the answer has arrived. */
    void onHead(ResponseHead response);

    /** A part of the answer's body has arrived. The caller still owns the buffer. */
    default void onData(ByteBuf data) {}

    /** The trailers of the answer have arrived. */
    default void onTrailers(Fields trailers) {}

    /**
     * Decides when the answer is complete.
     *
     * @return what is wrong with the answer or its endpoint, null if nothing is
     */
    @Nullable
    String failure();

    /** Returns the name that TLS asks for where that is the host of the request; null for that of the endpoint. */
    default @Nullable String serverName() {
        return null;
    }
}
