package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.testing.Buffers;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What waits for the peer's window, and who releases it. */
class PendingDataTest {
    private final RawClient client = new RawClient();
    private final ChannelHandlerContext ctx = client.server.context();
    private final MultiplexedStream stream;

    PendingDataTest() {
        client.send(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, 1, Frames.get());
        stream = (MultiplexedStream) client.request(0).server();
        client.request(0).server().head(Http2ConnectionsTest.response(200), false);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private List<String> written() {
        client.server.flush(ctx);
        client.collect();
        return client.all(Frames.DATA, 1).stream()
                .map(frame -> frame.payload().toString(StandardCharsets.US_ASCII) + (isLast(frame) ? "!" : ""))
                .toList();
    }

    private static boolean isLast(Frame frame) {
        return (frame.flags() & Frames.END_STREAM) != 0;
    }

    private PendingData pending(String text, boolean last) {
        return PendingData.leaving(stream, Buffers.of(text.getBytes(StandardCharsets.US_ASCII)), last);
    }

    @Test
    void whatTheWindowHasRoomForIsWrittenAndTheRestStays() {
        PendingData frame = pending("abcdef", true);
        frame.write(ctx, 4);
        assertEquals(2, frame.size());
        frame.write(ctx, 0);
        frame.write(ctx, 4);
        assertEquals(0, frame.size());
        assertEquals(List.of("abcd", "ef!"), written());
    }

    @Test
    void onlyTheLastOfABodyEndsTheStream() {
        PendingData frame = pending("a", false);
        frame.write(ctx, 1);
        frame.writeComplete();
        assertEquals(0, client.counts.closed);
        PendingData last = PendingData.leaving(stream, Unpooled.EMPTY_BUFFER, true);
        last.write(ctx, 0);
        last.writeComplete();
        assertEquals(List.of("a", "!"), written());
        assertEquals(1, client.counts.closed);
    }

    @Test
    void shortPiecesLeaveAsOne() {
        PendingData frame = pending("a", false);
        assertTrue(frame.merge(ctx, pending("b", false)));
        assertTrue(frame.merge(ctx, pending("c", true)));
        assertEquals(3, frame.size());
        frame.write(ctx, 3);
        assertEquals(List.of("abc!"), written());
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
        PendingData large = PendingData.leaving(stream, Buffers.of(new byte[4096]), false);
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
        assertEquals(List.of("a"), written());
        assertEquals(0, frame.size());
    }

    @Test
    void trailersNeedNoWindowAndMergeWithNothing() {
        Fields fields = new Fields();
        fields.add(FieldName.of("X-Sum"), "7");
        PendingData trailers = PendingData.trailers(stream, fields);
        PendingData body = pending("a", false);
        assertEquals(0, trailers.size());
        assertFalse(trailers.merge(ctx, body));
        assertFalse(body.merge(ctx, trailers));
        body.write(ctx, 1);
        trailers.write(ctx, 0);
        trailers.writeComplete();
        assertEquals(List.of("a"), written());
        List<Frame> heads = client.all(Frames.HEADERS, 1);
        assertEquals(2, heads.size());
        assertTrue(isLast(heads.get(1)));
    }
}
