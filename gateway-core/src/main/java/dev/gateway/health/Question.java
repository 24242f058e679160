package dev.gateway.health;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.StreamKind;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint is asked, and what its answer means. One object for each time that it is asked; confined to the event
 * loop of its {@link Probe}.
 */
interface Question {
    /** Names who asks, as servers log it. */
    String USER_AGENT = "gateway-health-check";

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
