package dev.gateway.protocol.http2;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2Stream;

/** What a connection lets its peer send, kept by Netty's flow controller, which returns bytes in bulk. Part of it. */
final class ReceiveWindows {
    private static final int DEFAULT_WINDOW = 65_535;

    private final MultiplexedConnection connection;
    private final FlushSchedule flushes;
    private final Http2Stream all;
    private final Http2LocalFlowController controller;

    ReceiveWindows(MultiplexedConnection connection, Http2Connection h2, FlushSchedule flushes) {
        this.connection = connection;
        this.flushes = flushes;
        this.all = h2.connectionStream();
        this.controller = h2.local().flowController();
    }

    /** Opens the window of all streams together. */
    void open(int connectionWindow) throws Http2Exception {
        controller.incrementWindowSize(all, connectionWindow - DEFAULT_WINDOW);
    }

    /** The bytes were taken, so the peer may send as many more. */
    void consumed(Http2Stream h2, int bytes) {
        if (isClosed(h2)) {
            return; // closing gave all bytes back
        }
        try {
            if (controller.consumeBytes(h2, bytes)) {
                flushes.request();
            }
        } catch (Http2Exception e) {
            connection.onError(connection.context(), true, e);
        }
    }

    /** Lets the peer send that much more on this stream beyond what was consumed. */
    void add(Http2Stream h2, int bytes) {
        try {
            controller.incrementWindowSize(h2, bytes);
            flushes.request();
        } catch (Http2Exception e) {
            connection.onError(connection.context(), true, e);
        }
    }

    /** Lets the peer have less under way on this stream, once it has used what it was given: at most so many bytes. */
    void narrow(Http2Stream h2, int most) {
        int excess = size(h2) - most;
        if (excess > 0) {
            add(h2, -excess);
        }
    }

    /** Lets the peer send that much more on all streams together. */
    void addForAll(int bytes) {
        add(all, bytes);
    }

    /** No WINDOW_UPDATE for a stream that ended with trailers, which the flow controller does not learn by itself. */
    void ended(Http2Stream h2) throws Http2Exception {
        controller.receiveFlowControlledFrame(h2, Unpooled.EMPTY_BUFFER, 0, true);
    }

    /** Whether the peer may send body bytes on this stream, as far as windows go. */
    boolean hasCredit(Http2Stream h2) {
        return !isClosed(h2) && unconsumed(h2) == 0;
    }

    /** Returns how many bytes of this stream were received and not taken. */
    int unconsumed(Http2Stream h2) {
        return controller.unconsumedBytes(h2);
    }

    /** Returns how many bytes of this stream may be under way or wait here at once. */
    int size(Http2Stream h2) {
        return controller.initialWindowSize(h2);
    }

    private static boolean isClosed(Http2Stream h2) {
        return h2.state() == Http2Stream.State.CLOSED;
    }
}
