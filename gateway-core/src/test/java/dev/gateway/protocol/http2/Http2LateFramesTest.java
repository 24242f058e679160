package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.get;
import static dev.gateway.protocol.http2.Frames.number;
import static dev.gateway.protocol.http2.Frames.post;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.protocol.http2.Frames.Frame;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** After its last GOAWAY a server ignores what a client far away sends that has not read it, and keeps what it promised. */
class Http2LateFramesTest {
    private static final int END = Frames.END_STREAM | Frames.END_HEADERS;
    private static final int LAST = 3;

    private final RawClient client = new RawClient();

    @AfterEach
    void close() {
        client.close();
        assertEquals(client.counts.opened, client.counts.closed);
    }

    /** Two requests run, and GOAWAY has named the second. */
    private void goneAway() {
        client.send(Frames.HEADERS, END, 1, get());
        client.send(Frames.HEADERS, Frames.END_HEADERS, LAST, post());
        client.server.drain();
        client.collect();
        byte[] ping = ByteBufUtil.getBytes(client.all(Frames.PING, 0).get(0).payload());
        client.send(Frames.PING, Frames.ACK, 0, ping);
        assertEquals(LAST, client.all(Frames.GOAWAY, 0).get(1).number(0));
    }

    private void assertThePromiseIsKept() {
        assertEquals(2, client.recorder.requests.size());
        assertEquals(2, client.all(Frames.GOAWAY, 0).size());
        client.send(Frames.DATA, Frames.END_STREAM, LAST, "body".getBytes(StandardCharsets.US_ASCII));
        assertEquals("body", client.request(1).body.toString());
        for (int i = 0; i < 2; i++) {
            assertNull(client.request(i).failure);
            client.request(i).server().head(Http2ConnectionsTest.response(200), true);
            client.request(i).server().flush();
            client.collect();
            assertNotNull(client.first(Frames.HEADERS, 2 * i + 1));
        }
        assertFalse(client.channel.isOpen());
        assertEquals(List.of(), client.counts.violations);
    }

    @Test
    void aRequestWithABody() {
        goneAway();
        client.send(
                frame(Frames.HEADERS, Frames.END_HEADERS, 5, post()),
                frame(Frames.DATA, 0, 5, new byte[1_000]),
                frame(Frames.DATA, 0, 5, new byte[1]),
                frame(Frames.HEADERS, END, 5, Frames.block("x", "y")));
        assertNull(client.first(Frames.RST_STREAM, 5));
        assertThePromiseIsKept();
    }

    @Test
    void whatAClientSaysOfItsStreams() {
        goneAway();
        client.send(
                frame(Frames.HEADERS, END, 5, get()),
                frame(Frames.WINDOW_UPDATE, 0, 5, number(1_000)),
                frame(Frames.PRIORITY, 0, 5, new byte[5]),
                frame(Frames.RST_STREAM, 0, 5, number(8)),
                frame(PriorityUpdate.TYPE, 0, 0, priorityUpdate(7)),
                frame(Frames.RST_STREAM, 0, 7, number(8)));
        assertThePromiseIsKept();
    }

    private static byte[] priorityUpdate(int streamId) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        payload.writeBytes(number(streamId));
        payload.writeBytes("u=1".getBytes(StandardCharsets.US_ASCII));
        return payload.toByteArray();
    }

    /** The client has no more than one hears of priorities of streams that are never opened. */
    @Test
    void manyPrioritiesOfRequestsStillToCome() {
        goneAway();
        for (int i = 0; i < 500; i++) {
            client.send(PriorityUpdate.TYPE, 0, 0, priorityUpdate(5 + 2 * i));
        }
        assertThePromiseIsKept();
    }

    @Test
    void aHeadThatIsTooLarge() {
        goneAway();
        int limit = Http2ServerSettings.DEFAULT.heads().maxBytes();
        client.send(Frames.HEADERS, 0, 5, Frames.block("a", "a".repeat(16_000)));
        for (int sent = 16_000; sent < limit; sent += 16_000) {
            client.send(Frames.CONTINUATION, 0, 5, Frames.block("a", "a".repeat(16_000)));
        }
        client.send(Frames.CONTINUATION, Frames.END_HEADERS, 5, Frames.block("a", "b"));
        assertNull(client.first(Frames.HEADERS, 5));
        assertNull(client.first(Frames.RST_STREAM, 5));
        assertThePromiseIsKept();
    }

    /** A head that is ignored has filled the table that trailers of another stream refer to. */
    @Test
    void theTableOfHeaderFieldsStaysInStep() {
        goneAway();
        byte[] indexed = Frames.block("x-name", "value");
        indexed[0] = 0x40;
        client.send(Frames.HEADERS, END, 5, indexed);
        client.send(Frames.HEADERS, END, LAST, (byte) (0x80 | 62));
        assertEquals("value", String.valueOf(client.request(1).trailers().value(0)));
        assertEquals("x-name", String.valueOf(client.request(1).trailers().name(0)));
    }

    /** Else a client's upload on a stream that was promised would wait for ever. */
    @Test
    void whatIsIgnoredIsGivenBackToTheWindowOfTheConnection() {
        goneAway();
        client.send(Frames.HEADERS, Frames.END_HEADERS, 5, post());
        int window = Http2ServerSettings.DEFAULT.connectionWindow();
        for (int sent = 0; sent < 2 * window; sent += 16_384) {
            client.send(Frames.DATA, 0, 5, new byte[16_384]);
        }
        int returned = client.all(Frames.WINDOW_UPDATE, 0).stream()
                .mapToInt(update -> update.number(0))
                .sum();
        assertTrue(returned > window + window / 2, returned + " of " + window);
        assertEquals(
                List.of(),
                client.all(Frames.WINDOW_UPDATE, 5).stream().map(Frame::stream).toList());
        assertThePromiseIsKept();
    }

    @Test
    void theLastStreamIsNamedLateIfRequestsRunAndTheClientIsSilent() {
        client.send(Frames.HEADERS, END, 1, get());
        client.server.drain();
        client.advance(1_050);
        client.advance(1_050);
        client.send(Frames.HEADERS, Frames.END_HEADERS, LAST, post()); // sent before the first GOAWAY was read
        for (int i = 0; i < 4; i++) {
            client.advance(1_050);
        }
        assertEquals(LAST, client.all(Frames.GOAWAY, 0).get(1).number(0));
        assertThePromiseIsKept();
    }

    @Test
    void withoutARequestNobodyWaitsForASilentClient() {
        client.send(Frames.HEADERS, END, 1, get());
        client.request(0).server().head(Http2ConnectionsTest.response(200), true);
        client.server.drain();
        client.advance(1_100);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aFloodOfThemEndsTheConnection() {
        goneAway();
        for (int i = 0;
                i <= 2 * FloodGuard.MAX_STRAYS && client.all(Frames.GOAWAY, 0).size() == 2;
                i++) {
            client.send(Frames.HEADERS, END, 5 + 2 * i, get());
        }
        assertEquals(List.of(Http2Violation.STRAY_FRAME_FLOOD.kind()), client.counts.violations);
        assertEquals(11, client.all(Frames.GOAWAY, 0).get(2).number(4)); // ENHANCE_YOUR_CALM
    }

    @Test
    void aFloodOfHeadsThatAreTooLargeEndsTheConnection() {
        goneAway();
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(
                Frames.block("p", "p".repeat(Http2ServerSettings.DEFAULT.heads().maxBytes() / 8 + 100)));
        byte[] field = Frames.block("v", "v".repeat(3_900));
        field[0] = 0x40; // into the table
        block.writeBytes(field);
        for (int i = 0; i < 20; i++) {
            block.write(0x80 | 62); // the same again
        }
        for (int i = 0;
                i <= 2 * FloodGuard.MAX_STRAYS && client.all(Frames.GOAWAY, 0).size() == 2;
                i++) {
            // Not as a buffer whose every byte that is read is recorded.
            client.channel.writeInbound(frame(Frames.HEADERS, END, 5 + 2 * i, block.toByteArray()));
            client.collect();
        }
        assertEquals(List.of(Http2Violation.STRAY_FRAME_FLOOD.kind()), client.counts.violations);
        assertEquals(11, client.all(Frames.GOAWAY, 0).get(2).number(4)); // ENHANCE_YOUR_CALM
    }
}
