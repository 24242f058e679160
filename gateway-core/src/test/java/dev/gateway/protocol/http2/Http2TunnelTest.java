package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http2.Pair.Exchange;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams of HTTP/2 as tunnels: CONNECT and extended CONNECT (RFC 9113, section 8.5; RFC 8441). */
class Http2TunnelTest {
    private final Pair pair = new Pair();

    @AfterEach
    void nothingIsLeft() {
        pair.close();
        assertEquals(pair.serverCounts.opened, pair.serverCounts.closed);
        assertEquals(pair.clientCounts.opened, pair.clientCounts.closed);
    }

    private static RequestHead connect(boolean extended) {
        RequestHead head = new RequestHead(
                Method.CONNECT,
                new AsciiString("http"),
                new AsciiString("example.org:443"),
                new AsciiString(extended ? "/chat?x" : ""),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
        if (extended) {
            head.setProtocol(new AsciiString("WebSocket"));
            head.fields().add(FieldName.SEC_WEBSOCKET_VERSION, "13");
        }
        return head;
    }

    private Exchange ask(boolean extended) {
        Exchange exchange = pair.open();
        exchange.client().head(connect(extended), false);
        exchange.client().flush();
        pair.pump();
        return exchange;
    }

    private Exchange tunnel(boolean extended) {
        Exchange mine = ask(extended);
        theirs().server().head(Http2ConnectionsTest.response(200), false);
        theirs().server().flush();
        pair.pump();
        return mine;
    }

    private Exchange theirs() {
        return pair.requests.get(pair.requests.size() - 1);
    }

    private void up(Exchange mine, String text, boolean last) {
        mine.client().data(Http2ConnectionsTest.text(text), last);
        mine.client().flush();
        pair.pump();
    }

    private void down(String text, boolean last) {
        theirs().server().data(Http2ConnectionsTest.text(text), last);
        theirs().server().flush();
        pair.pump();
    }

    @Test
    void bothEndsOfferExtendedConnect() {
        assertTrue(pair.client.allowsExtendedConnect());
        Exchange mine = ask(true);
        RequestHead head = theirs().request();
        assertTrue(head.isConnect());
        assertFalse(theirs().ended);
        assertEquals("websocket", String.valueOf(head.protocol()));
        assertEquals("/chat?x", head.path().toString());
        assertEquals("sec-websocket-version: 13\n", head.fields().toString());
        assertFalse(head.refuseUpgrade());
        mine.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        pair.pump();
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void theClientMayEndItsDirectionFirst(boolean extended) {
        Exchange mine = tunnel(extended);
        up(mine, "up", true);
        assertTrue(theirs().ended);
        assertEquals("up", theirs().body.toString());
        down("down", false);
        down("!", true);
        assertEquals("down!", mine.body.toString());
        assertTrue(mine.ended);
        assertOver(mine);
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void theServerMayEndItsDirectionFirst(boolean extended) {
        Exchange mine = tunnel(extended);
        down("down", true);
        assertTrue(mine.ended);
        assertEquals(1, pair.client.activeStreams());
        up(mine, "up", false);
        up(mine, "!", true);
        assertEquals("up!", theirs().body.toString());
        assertOver(mine);
    }

    @Test
    void bothMayEndTheirDirectionsAtOnce() {
        Exchange mine = tunnel(false);
        theirs().server().data(Http2ConnectionsTest.text("down"), true);
        theirs().server().flush();
        up(mine, "up", true);
        assertEquals("up", theirs().body.toString());
        assertEquals("down", mine.body.toString());
        assertOver(mine);
    }

    private void assertOver(Exchange mine) {
        assertNull(mine.failure);
        assertNull(theirs().failure);
        assertEquals(0, pair.client.activeStreams());
        assertEquals(0, pair.clientCounts.sent[Frames.RST_STREAM] + pair.serverCounts.sent[Frames.RST_STREAM]);
    }

    /** Codes: 8 is CANCEL, 10 CONNECT_ERROR. */
    @ParameterizedTest
    @CsvSource({
        "false, UPSTREAM_RESET_IN_BODY, CONNECT_ERROR",
        "false, IDLE_TIMEOUT, CONNECT_ERROR",
        "false, DRAIN, CANCEL",
        "true, UPSTREAM_RESET_IN_BODY, CANCEL",
        "true, IDLE_TIMEOUT, CANCEL"
    })
    void aTunnelThatFailsUpstreamIsReset(boolean extended, Cause cause, String code) {
        Exchange mine = tunnel(extended);
        theirs().server().reset(Failure.of(cause, ""));
        pair.pump();
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, mine.failed().cause());
        assertTrue(mine.failed().detail().endsWith(code), mine.failed().detail());
        assertEquals(0, pair.client.activeStreams());
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aTunnelThatFailsDownstreamIsReset(boolean ended) {
        Exchange mine = tunnel(true);
        if (ended) {
            up(mine, "up", true);
        }
        mine.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        pair.pump();
        assertEquals(Cause.CLIENT_CLOSED, theirs().failed().cause());
        assertEquals(0, pair.client.activeStreams());
    }

    @Test
    void aRefusalIsAnOrdinaryResponse() {
        Exchange mine = ask(true);
        theirs().server().head(new ResponseHead(403, null, new Fields(), 2), false);
        down("no", true);
        assertEquals(403, mine.heads.get(0).status());
        assertEquals("no", mine.body.toString());
        assertTrue(mine.ended);
        mine.client().reset(Failure.of(Cause.CLIENT_CLOSED, "not needed"));
        pair.pump();
        assertNull(theirs().failure);
        assertEquals(0, pair.client.activeStreams());
        assertTrue(pair.clientChannel.isOpen());
    }

    @Test
    void aStalledReaderStopsItsTunnelOnly() {
        Exchange stalled = tunnel(true);
        stalled.keepCredit = true;
        Exchange first = theirs();
        int sent = 0;
        while (first.server().isWritable()) {
            first.server().data(Buffers.of(new byte[10_000]), false);
            first.server().flush();
            sent += 10_000;
            pair.pump();
        }
        Exchange other = tunnel(true);
        down("down", true);
        assertEquals("down", other.body.toString());
        up(other, "", true);
        stalled.client().consumed(stalled.received);
        pair.pump();
        assertEquals(sent, stalled.received);
        first.server().data(Unpooled.EMPTY_BUFFER, true);
        first.server().flush();
        up(stalled, "", true);
        assertNull(stalled.failure);
    }

    @Test
    void aHandshakeThatTakesLongIsNoSlowBody() {
        Exchange mine = ask(true);
        pair.advance(pair.serverChannel, 70_000);
        assertNull(theirs().failure);
        theirs().server().head(Http2ConnectionsTest.response(200), false);
        theirs().server().flush();
        pair.pump();
        assertEquals(200, mine.heads.get(0).status());
    }

    @Test
    void drainingIsToldToWhatIsOpenAndToWhatStillComes() {
        tunnel(true);
        Exchange first = theirs();
        pair.server.drain();
        pair.server.drain();
        assertEquals(1, first.drainings);
        ask(false); // the client has not seen the GOAWAY when it sends this
        assertEquals(1, theirs().drainings);
        assertEquals(1, first.drainings);
        assertNull(first.failure);
    }
}
