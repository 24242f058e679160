package dev.gateway.protocol.http1;

import dev.gateway.net.ByteStreamHalf;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** The tunnel that a downstream connection has become, if it has. Part of the connection, confined to its event loop. */
final class ServerTunnel {
    private @Nullable ByteStreamHalf half;

    /** Whether the connection is a tunnel, be it one that has ended. */
    boolean exists() {
        return half != null;
    }

    /**
     * Leaves the channel to the tunnel that a stream has opened. All that was written before has been flushed.
     *
     * @param early what the client has sent ahead, owned from here on, or null
     */
    void open(Http1ServerConnection connection, Http1ServerStream open, StreamEvents events, @Nullable ByteBuf early) {
        ByteStreamHalf made = connection.replaceBy(
                ByteStreamHalf.ofClient(connection.info(), events, connection.observer, connection.timers), open);
        half = made;
        if (open.isEnded()) {
            made.data(Unpooled.EMPTY_BUFFER, true);
        }
        made.begin(early, connection.isInputEnded());
    }

    /** Tells the tunnel that its listener takes no new connections; does nothing if there is none. */
    void drain() {
        if (half != null) {
            half.drain();
        }
    }

    /** Ends the tunnel if there is one and it is not over; returns whether it closes the connection itself, in order. */
    boolean end(Failure failure) {
        return half != null && half.end(failure);
    }
}
