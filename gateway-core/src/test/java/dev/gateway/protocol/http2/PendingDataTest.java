package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What waits for the peer's window, and who releases it. */
class PendingDataTest implements PendingData.Owner {
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext ctx = channel.pipeline().firstContext();
    private final List<String> written = new ArrayList<>();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Override
    public void onMerged(int more) {}

    @Override
    public void writeData(ChannelHandlerContext ctx, ByteBuf data, int room, boolean last) {
        written.add(data.toString(StandardCharsets.US_ASCII) + (last ? "!" : ""));
        data.release();
    }

    @Override
    public void closeLocal() {
        written.add("closed");
    }

    private PendingData pending(String text, boolean last) {
        return PendingData.leaving(this, Buffers.of(text.getBytes(StandardCharsets.US_ASCII)), last);
    }

    @Test
    void whatTheWindowHasRoomForIsWrittenAndTheRestStays() {
        PendingData frame = pending("abcdef", true);
        frame.write(ctx, 4);
        assertEquals(2, frame.size());
        frame.write(ctx, 0);
        frame.write(ctx, 4);
        assertEquals(0, frame.size());
        assertEquals(List.of("abcd", "ef!"), written);
    }

    @Test
    void onlyTheLastOfABodyEndsTheStream() {
        PendingData frame = pending("a", false);
        frame.write(ctx, 1);
        frame.writeComplete();
        PendingData last = PendingData.leaving(this, Unpooled.EMPTY_BUFFER, true);
        last.write(ctx, 0);
        last.writeComplete();
        assertEquals(List.of("a", "!", "closed"), written);
    }

    @Test
    void shortPiecesLeaveAsOne() {
        PendingData frame = pending("a", false);
        assertTrue(frame.merge(ctx, pending("b", false)));
        assertTrue(frame.merge(ctx, pending("c", true)));
        assertEquals(3, frame.size());
        frame.write(ctx, 3);
        assertEquals(List.of("abc!"), written);
    }

    @Test
    void nothingFollowsTheLast() {
        PendingData frame = pending("a", true);
        PendingData next = pending("b", false);
        assertFalse(frame.merge(ctx, next));
        frame.error(ctx, new IOException());
        next.error(ctx, new IOException());
    }

    @Test
    void largePiecesAreNotCopied() {
        PendingData frame = pending("a", false);
        PendingData large = PendingData.leaving(this, Buffers.of(new byte[4096]), false);
        assertFalse(frame.merge(ctx, large));
        frame.error(ctx, new IOException());
        large.error(ctx, new IOException());
    }

    @Test
    void whatAClosedStreamDoesNotSendIsReleasedOnce() {
        PendingData frame = pending("abc", true);
        frame.write(ctx, 1);
        frame.error(ctx, new IOException());
        frame.error(ctx, new IOException());
        assertEquals(List.of("a"), written);
        assertEquals(0, frame.size());
    }

    @Test
    void trailersNeedNoWindowAndMergeWithNothing() {
        List<Fields> sent = new ArrayList<>();
        Fields fields = new Fields();
        PendingTrailers frame = new PendingTrailers(sent::add, fields);
        assertEquals(0, frame.size());
        assertFalse(frame.merge(ctx, frame));
        frame.write(ctx, 0);
        assertEquals(List.of(fields), sent);
    }
}
