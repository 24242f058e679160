package dev.gateway.exchange.body;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import io.netty.buffer.ByteBuf;

/**
 * The body of an upstream's response that an error page has replaced. The gateway reads and drops it, so that the
 * connection can be reused. If the body is long or slow, the gateway resets the stream. The exchange has ended before.
 */
public final class DroppedBody extends Timer {
    /** The gateway drops no more bytes than this. */
    public static final int MOST_BYTES = 64 << 10;

    /** It waits no longer than this. */
    public static final long MOST_MILLIS = 1_000;

    private final ClientStream stream;
    private final Failure reason;
    private int left = MOST_BYTES;

    /** Drops what comes by a stream; the timer is to be armed with {@link #MOST_MILLIS}. */
    public DroppedBody(ClientStream stream, Failure reason) {
        this.stream = stream;
        this.reason = reason;
    }

    /** Drops a piece; owns it. */
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        data.release();
        left -= bytes;
        if (last) {
            end();
        }
        if (last || left >= 0) {
            stream.consumed(bytes);
        } else {
            end();
            stream.reset(reason);
        }
    }

    /** Nothing more comes. */
    public void end() {
        cancel();
    }

    @Override
    protected void onExpired() {
        stream.reset(reason);
    }
}
