package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FlushScheduleTest {
    private final RawClient client = new RawClient();
    private final FlushSchedule flushes = client.server.shared().flushes();
    private int flushed;

    FlushScheduleTest() {
        client.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                flushed++;
                ctx.flush();
            }
        });
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void open(int... streams) {
        for (int stream : streams) {
            client.send(Frames.HEADERS, Frames.END_HEADERS, stream, Frames.post());
        }
        flushed = 0;
    }

    @Test
    void withoutAChannelThereIsNothingToFlush() {
        Http2ServerConnection unused = Http2ServerConnection.create(
                Pair.info(), client.recorder, client.counts, Pair.wheel(client.channel), Http2ServerSettings.DEFAULT);
        assertDoesNotThrow(unused.shared().flushes()::request);
    }

    @Test
    void theOnlyStreamIsFlushedAtOnce() {
        open(1);
        flushes.request();
        assertEquals(1, flushed);
        flushes.request();
        assertEquals(2, flushed);
    }

    @Test
    void manyStreamsAreFlushedTogether() {
        open(1, 3);
        flushes.request();
        flushes.request();
        assertEquals(0, flushed);
        client.channel.runPendingTasks();
        assertEquals(1, flushed);
        flushes.request();
        client.channel.runPendingTasks();
        assertEquals(2, flushed);
    }

    @Test
    void whoReadsFlushesWhenTheBatchEnds() {
        open(1);
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
    void nothingIsFlushedOnceTheConnectionCloses() {
        open(1, 3);
        flushes.request();
        client.server.shared().ending().onInactive();
        client.channel.runPendingTasks();
        flushes.request();
        assertEquals(0, flushed);
    }
}
