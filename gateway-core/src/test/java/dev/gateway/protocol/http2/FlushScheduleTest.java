package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Exception;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FlushScheduleTest implements FlushSchedule.Owner, ConnectionShutdown.Owner {
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final Codec codec =
            Codec.of(true, Http2ServerSettings.DEFAULT.wire(), 10, 100, new Pair.Counts(), Pair.wheel(channel));
    private final ConnectionShutdown ending = new ConnectionShutdown(this, codec, 0);
    private final FlushSchedule flushes = new FlushSchedule(this, codec.connection(), ending);
    private int flushed;

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Override
    public ChannelHandlerContext context() {
        return channel.pipeline().firstContext();
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        flushed++;
    }

    @Override
    public void failStreams() {}

    private void open(int... streams) throws Http2Exception {
        for (int stream : streams) {
            codec.connection().remote().createStream(stream, false);
        }
    }

    @Test
    void withoutAChannelThereIsNothingToFlush() {
        flushes.request();
        channel.runPendingTasks();
        assertEquals(0, flushed);
    }

    @Test
    void theOnlyStreamIsFlushedAtOnce() throws Http2Exception {
        flushes.onAdded(context());
        open(1);
        flushes.request();
        assertEquals(1, flushed);
        flushes.request();
        assertEquals(2, flushed);
    }

    @Test
    void manyStreamsAreFlushedTogether() throws Http2Exception {
        flushes.onAdded(context());
        open(1, 3);
        flushes.request();
        flushes.request();
        assertEquals(0, flushed);
        channel.runPendingTasks();
        assertEquals(1, flushed);
        flushes.request();
        channel.runPendingTasks();
        assertEquals(2, flushed);
    }

    @Test
    void whoReadsFlushesWhenTheBatchEnds() {
        flushes.onAdded(context());
        flushes.onRead();
        assertTrue(flushes.isReading());
        flushes.request();
        assertEquals(0, flushed);
        flushes.onReadEnded();
        assertFalse(flushes.isReading());
        flushes.request();
        assertEquals(1, flushed);
    }

    @Test
    void nothingIsFlushedOnceTheConnectionCloses() throws Http2Exception {
        flushes.onAdded(context());
        open(1, 3);
        flushes.request();
        ending.onInactive();
        channel.runPendingTasks();
        flushes.request();
        assertEquals(0, flushed);
    }
}
