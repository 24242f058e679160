package dev.gateway.http2;

import dev.gateway.time.Timer;
import io.netty.handler.codec.http2.Http2Stream;

/** Ends a stream whose peer takes nothing of what waits for it. Part of the stream, made when something first waits. */
final class StallTimer extends Timer {
    private final MultiplexedStream stream;
    private final MultiplexedConnection connection;
    private boolean progressed; // bytes left since it was armed
    private long othersBefore; // bytes that the connection had sent when it was armed

    StallTimer(MultiplexedStream stream) {
        this.stream = stream;
        this.connection = stream.connection;
    }

    void arm() {
        progressed = false;
        othersBefore = connection.dataWritten();
        connection.timers.arm(this, connection.writeIdleMillis());
    }

    void onProgress() {
        progressed = true;
    }

    /** Whether the peer takes bytes, of this stream or of others whose turn it is. */
    private boolean isPeerTaking() {
        Http2Stream h2 = stream.h2();
        return progressed || (h2 != null && connection.dataWritten() != othersBefore && connection.hasWindow(h2));
    }

    @Override
    protected void onExpired() {
        if (isPeerTaking()) {
            arm();
        } else {
            connection.onStalled(stream);
        }
    }
}
