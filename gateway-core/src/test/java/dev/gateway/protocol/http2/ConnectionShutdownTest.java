package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.protocol.http2.Frames.Frame;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a connection is shut down from our side, in time that only the test moves on. */
class ConnectionShutdownTest {
    private final RawClient client = new RawClient();
    private final ConnectionShutdown ending = client.server.shared().ending();
    private int failed;

    ConnectionShutdownTest() {
        request(1);
        client.request(0).onReset = () -> failed++;
        client.received.clear();
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void request(int stream) {
        client.send(Frames.HEADERS, Frames.END_HEADERS, stream, Frames.post());
    }

    private List<Frame> sent() {
        client.collect();
        return client.received;
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
        assertTrue(client.channel.isOpen());
        client.advance(500);
        assertFalse(client.channel.isOpen());
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
        client.collect();
        assertFalse(client.channel.isOpen());
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
        assertFalse(client.channel.isOpen());
    }

    @Test
    void whatArrivesTooLateIsDropped() {
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        request(3);
        assertEquals(1, client.recorder.requests.size());
    }

    @Test
    void aClosedConnectionIsToldNothing() {
        client.channel.close();
        failed = 0;
        ending.fail(Http2Error.PROTOCOL_ERROR, "bad");
        ending.closeAfterWrites();
        assertEquals(List.of(), sent());
        assertEquals(0, failed);
        assertFalse(ending.isFailed());
    }
}
