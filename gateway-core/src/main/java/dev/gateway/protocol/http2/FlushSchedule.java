package dev.gateway.protocol.http2;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import org.jspecify.annotations.Nullable;

/** When a connection flushes: once for each batch of reads, and once for all who ask in a turn of the event loop. Part of it. */
final class FlushSchedule {
    private final MultiplexedConnection connection;
    private final Http2Connection h2;
    private final ConnectionShutdown ending;
    private final Runnable task = this::flushScheduled;
    private @Nullable ChannelHandlerContext context; // null until there is a channel
    private boolean reading;
    private boolean scheduled;

    FlushSchedule(MultiplexedConnection connection, Http2Connection h2, ConnectionShutdown ending) {
        this.connection = connection;
        this.h2 = h2;
        this.ending = ending;
    }

    void onAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    /** Bytes are read: the reading code flushes when the batch ends. */
    void onRead() {
        reading = true;
    }

    void onReadEnded() {
        reading = false;
    }

    boolean isReading() {
        return reading;
    }

    /** Flushes soon: at the end of this batch of reads, or with others that ask in this turn of the event loop. */
    void request() {
        ChannelHandlerContext ctx = context;
        if (reading || scheduled || ctx == null || ending.isClosing()) {
            return;
        }
        if (h2.numActiveStreams() > 1) {
            scheduled = true;
            ctx.executor().execute(task);
        } else {
            connection.flush(ctx);
        }
    }

    private void flushScheduled() {
        scheduled = false;
        ChannelHandlerContext ctx = context;
        if (ctx != null && !ending.isClosing()) {
            connection.flush(ctx);
        }
    }
}
