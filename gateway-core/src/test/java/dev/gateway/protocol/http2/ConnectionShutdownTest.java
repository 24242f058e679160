package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.protocol.http2.Frames.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a connection is shut down from our side, in time that only the test moves on. */
class ConnectionShutdownTest implements ConnectionShutdown.Owner {
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final Codec codec =
            Codec.of(true, Http2ServerSettings.DEFAULT.wire(), 10, 100, new Pair.Counts(), Pair.wheel(channel));
    private final ConnectionShutdown ending = new ConnectionShutdown(this, codec, 10_000);
    private int failed;
    private int flushed;

    ConnectionShutdownTest() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.close();
        ending.onInactive();
        channel.finishAndReleaseAll();
    }

    @Override
    public ChannelHandlerContext context() {
        return channel.pipeline().firstContext();
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        flushed++;
        ctx.flush();
    }

    @Override
    public void failStreams() {
        failed++;
    }

    private List<Frame> sent() {
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            all.writeBytes(out);
            out.release();
        }
        return Frames.read(all);
    }

    @Test
    void anErrorIsSaidAndTheConnectionClosesOnceThatCouldBeRead() {
        assertEquals("the connection was closed", ending.lossDetail());
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        List<Frame> sent = sent();
        assertEquals(1, sent.size());
        assertEquals(Frames.GOAWAY, sent.get(0).type());
        assertEquals(Http2Error.PROTOCOL_ERROR.code(), sent.get(0).number(4));
        assertEquals("bad", sent.get(0).payload().toString(8, 3, StandardCharsets.US_ASCII));
        assertEquals(1, failed);
        assertEquals("the connection ended by a protocol error", ending.lossDetail());
        assertTrue(ending.isFailed());
        assertFalse(ending.isClosing());
        assertTrue(channel.isOpen());
        channel.advanceTimeBy(500, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertFalse(channel.isOpen());
    }

    @Test
    void aConnectionFailsOnce() {
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        ending.fail(Http2Error.INTERNAL_ERROR, "worse");
        assertEquals(1, sent().size());
        assertEquals(1, failed);
    }

    @Test
    void whatHasLeftIsNotWaitedFor() {
        ending.closeAfterWrites();
        assertTrue(ending.isClosing());
        assertEquals(1, flushed);
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    /** What it sends while it reads must not meet a closed socket, whose reset destroys the rest of the response. */
    @Test
    void aClientThatMayStillReadIsReadOn() {
        ending.onSent();
        ending.closeAfterWrites();
        assertTrue(ending.isLingering());
    }

    @Test
    void aClientThatHasAnsweredAPingHasReadWhatWasSentBefore() {
        ending.onSent();
        ending.onAsked();
        ending.onAnswered();
        ending.closeAfterWrites();
        assertFalse(ending.isLingering());
    }

    @Test
    void aPingTellsNothingOfWhatWasSentAfterIt() {
        ending.onAsked();
        ending.onSent();
        ending.onAnswered();
        ending.closeAfterWrites();
        assertTrue(ending.isLingering());
    }

    @Test
    void aClientThatWasIdleForLongReadsNothingMore() {
        ending.onSent();
        ending.fail(Http2Error.NO_ERROR, "");
        assertFalse(ending.isLingering());
    }

    @Test
    void toEndWithoutAnErrorNeedsNoWaitEither() {
        ending.fail(Http2Error.NO_ERROR, "");
        assertEquals(1, sent().size());
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    @Test
    void whatArrivesTooLateIsDropped() {
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        ByteBuf late = Unpooled.wrappedBuffer(new byte[100]);
        ending.drop(late);
        assertEquals(0, late.readableBytes());
        late.release();
    }

    @Test
    void aClosedConnectionIsToldNothing() {
        ending.onInactive();
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        ending.closeAfterWrites();
        assertEquals(List.of(), sent());
        assertEquals(0, failed);
        assertEquals(0, flushed);
    }
}
