package dev.gateway.stream;

import dev.gateway.message.Fields;
import io.netty.buffer.ByteBuf;

/** Stream events: what a peer did to a stream. The receiver owns every buffer it is given. */
public interface StreamEvents {
    /**
     * Body bytes arrived; the receiver answers for them by {@link Stream#consumed}.
     *
     * @param last whether the peer's message, or its direction of a tunnel, ends here; the buffer may then be empty
     */
    void onData(ByteBuf data, boolean last);

    /** The peer's message ended with trailer fields. */
    void onTrailers(Fields trailers);

    /** The peer takes bytes again after {@link Stream#isWritable} was false. */
    void onWritable();

    /** What the socket had has been read: a good moment to flush the other side. */
    void onReadComplete();

    /**
     * The connection that this request came by takes no further ones: the gateway, or its listener, is being shut down.
     * What runs may finish; a tunnel, which may never end by itself, can take its leave.
     */
    default void onDraining() {}

    /**
     * The connection is about to be ended, for this reason. A receiver whose protocol has a farewell sends it, and closes the
     * stream in order; then no other event follows.
     *
     * @return whether it has
     */
    default boolean onEnding(Failure failure) {
        return false;
    }

    /**
     * The stream has failed; the last event of a stream that did not end well. If it is a request that broke off by its
     * client's error or slowness, and no response has begun, the receiver may answer before it returns; an adapter that
     * cannot send that answer any more drops it.
     */
    void onReset(Failure failure);
}
