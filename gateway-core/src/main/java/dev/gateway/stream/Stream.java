package dev.gateway.stream;

import dev.gateway.message.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Stream. One side's half of an exchange: what the gateway can do to the peer. Every call is made on its event loop. */
public interface Stream {
    /**
     * Sends body bytes; they reach the socket at the next {@link #flush}. The stream owns the buffer from here on, also
     * when it has failed or ended. An empty buffer with {@code last} ends the body.
     *
     * @param last whether the message ends here; in a tunnel, whether this direction does (half-close)
     */
    void data(ByteBuf data, boolean last);

    /** Ends the message with trailer fields (RFC 9110, section 6.5); a protocol that cannot carry them drops them. */
    void trailers(Fields trailers);

    /** Sends what was written. Cheap when nothing is waiting. */
    void flush();

    /** Whether the peer keeps up. If not, stop writing until {@link StreamEvents#onWritable}. */
    boolean isWritable();

    /** Returns how many bytes were handed over and wait here, as the peer has no room. Asked while it is not writable. */
    default long unsent() {
        return 0;
    }

    /**
     * Asks for what waits here after a flush although there is room for more: its bytes, or 0 for a few. {@link
     * StreamEvents#onWritable} tells when the peer has taken them, maybe before this method returns. It is 0 as well where the
     * stream charges them itself, or where they wait in a connection that others share.
     */
    default long lingering() {
        return 0;
    }

    /** Whether what waits here is another memory than the buffers that were handed over, as TLS has encrypted it. */
    default boolean copies() {
        return false;
    }

    /**
     * Gives credit: this many bytes received from this peer have been passed on. A stream whose bytes are not consumed
     * stops reading from its peer. Calls after the stream has ended are ignored.
     */
    void consumed(int bytes);

    /**
     * Ends the stream at once, in both directions, telling the peer by its protocol's means (RST_STREAM, or closing the
     * connection). No event follows. After both directions have ended it does nothing.
     */
    void reset(Failure failure);

    /**
     * Ends the stream in both directions, but in order: the peer gets what was sent, and then the end. What it still sends is
     * dropped. Otherwise like {@link #reset}.
     */
    default void close(Failure failure) {
        data(Unpooled.EMPTY_BUFFER, true);
        flush();
        reset(failure);
    }
}
