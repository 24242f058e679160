package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a connection ends whose client may still be sending: FIN follows the last response, and what comes is dropped. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ServerLingeringTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String LAST = "GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    private static final String OK_CLOSE = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    /** Patience that ends before that of a connection that lingers. */
    private static final Http1ServerSettings SETTINGS = new Http1ServerSettings(
            new HeadLimits(1024, 4096, 20), new ConnectionTimeouts(500, 500, 500, 0, 3_000), true, 100);

    private final HalfClosableChannel channel = new HalfClosableChannel();
    private final Downstream client = new Downstream(SETTINGS, Account.UNLIMITED, channel);

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private void answer() {
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 0), true);
        client.last().stream.flush();
    }

    private void postMuch() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000000\r\n\r\nabc");
    }

    private void assertLingers() {
        assertTrue(channel.isOutputShutdown());
        assertTrue(channel.isOpen());
        assertTrue(channel.config().isAutoRead());
    }

    @Test
    void whatIsLeftOfABodyIsDroppedForAWhile() {
        postMuch();
        answer();
        assertEquals(OK_CLOSE, client.sent());
        assertLingers();
        client.clock.advance(4_000);
        client.send("x".repeat(100_000));
        client.clock.advance(4_000);
        assertLingers();
        client.send(GET);
        assertEquals(1, client.requests.size());
        client.clock.advance(2_100);
        assertFalse(channel.isOpen());
        assertEquals("", client.sent());
        assertEquals(0, client.idleCloses);
    }

    /** A client that keeps the connection would find it closed at its next request. */
    @Test
    void aRefusalWithABodySaysThatTheConnectionEnds() {
        postMuch();
        client.last().stream.head(new ResponseHead(413, null, new Fields(), 2), false);
        client.last().stream.data(Buffers.of("no"), true);
        assertTrue(client.sent().contains("\r\nConnection: close\r\n"));
        assertLingers();
    }

    @Test
    void aChunkedUploadThatIsTooLargeIsTheLastOfItsConnection() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        client.last().stream.head(new ResponseHead(413, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertTrue(client.sent().contains("\r\nConnection: close\r\n"));
        assertLingers();
    }

    /** Most clients read nothing before they have sent everything. */
    @Test
    void aLongUploadIsReadForTwoMinutes() {
        postMuch();
        answer();
        String mebibyte = "x".repeat(1 << 20);
        for (int second = 0; second < 119; second++) {
            client.send(mebibyte);
            client.clock.advance(1_000);
        }
        assertLingers();
        client.send(mebibyte);
        client.clock.advance(1_100);
        assertFalse(channel.isOpen());
    }

    @Test
    void anUploadThatIsTooSlowIsNotReadOn() {
        postMuch();
        answer();
        for (int second = 0; second < 10; second++) {
            client.send("x".repeat(110));
            client.clock.advance(1_010);
        }
        assertLingers();
        for (int second = 0; second < 5; second++) {
            client.send("x".repeat(90));
            client.clock.advance(1_010);
        }
        assertFalse(channel.isOpen());
    }

    @Test
    void aListenerThatDrainsDoesNotWaitForUploads() {
        postMuch();
        answer();
        client.send("x".repeat(100_000));
        client.connection.drain();
        client.clock.advance(1_900);
        assertLingers();
        client.send("x".repeat(100_000));
        client.clock.advance(200);
        assertFalse(channel.isOpen());
    }

    /** A connection whose client has its answer gives way to others. */
    @Test
    void whoIsReadOnGivesWay() {
        assertFalse(client.connection.isRefused());
        postMuch();
        answer();
        assertTrue(client.connection.isRefused());
    }

    /** The rest might have come while the response was sent. */
    @Test
    void aResponseWithABodyLeavesTheClientTimeForItsOwn() {
        postMuch();
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 2), false);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", client.sent());
        assertFalse(channel.isOutputShutdown());
        client.last().stream.data(Buffers.of("ok"), true);
        assertEquals("ok", client.sent());
        assertLingers();
    }

    @Test
    void aFinOfTheClientEndsIt() {
        postMuch();
        answer();
        assertLingers();
        client.fin();
        assertFalse(channel.isOpen());
        assertEquals(OK_CLOSE, client.sent());
    }

    @Test
    void aClientThatIsGoneIsNotWaitedFor() {
        postMuch();
        answer();
        assertLingers();
        channel.close();
        client.clock.assertNothingArmed();
    }

    @Test
    void aClientThatHasSentAllIsNotWaitedFor() {
        client.send(LAST);
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(channel.isOutputShutdown());
        assertFalse(channel.isOpen());
    }

    @Test
    void aClientThatHasSentFinIsNotWaitedFor() {
        client.answer = request -> {};
        client.send(LAST + GET);
        client.fin();
        answer();
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(channel.isOpen());
    }

    @Test
    void aClientThatHasPipelinedMoreIsWaitedFor() {
        client.answer = request -> {};
        client.send(LAST + GET);
        answer();
        assertEquals(OK_CLOSE, client.sent());
        assertLingers();
        assertEquals(0, client.memory.held());
        assertEquals(1, client.requests.size());
    }

    @Test
    void aClientThatWasReadNoMoreBecauseItPipelinedTooMuchIsReadAgain() {
        client.answer = request -> {};
        client.send(LAST + "x".repeat(70_000));
        assertFalse(channel.config().isAutoRead());
        answer();
        assertLingers();
    }

    @Test
    void aClientWhoseBodyNobodyTookIsReadAgain() {
        client.consuming = false;
        postMuch();
        client.send("x".repeat(300_000));
        assertFalse(channel.config().isAutoRead());
        answer();
        assertEquals(OK_CLOSE, client.sent());
        assertLingers();
    }

    @Test
    void whoeverIsRefusedMayReadWhy() {
        client.send("GET / HTTP/1.1\r\n\r\n" + GET);
        assertTrue(client.sent().startsWith("HTTP/1.1 400 "));
        assertLingers();
        client.clock.advance(4_900);
        assertLingers();
        client.clock.advance(200);
        assertFalse(channel.isOpen());
        assertEquals(1, client.requests.size());
    }

    @Test
    void theChunkedRestOfABodyThatIsTooLongIsDropped() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        answer();
        assertEquals(OK, client.sent());
        client.send("11000\r\n" + "x".repeat(0x11000));
        assertLingers();
        client.send("\r\n0\r\n\r\n" + GET);
        assertEquals(1, client.requests.size());
    }

    @Test
    void aMalformedRestOfABodyIsDropped() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        answer();
        assertEquals(OK, client.sent());
        client.send("zz\r\n" + GET);
        assertLingers();
        assertEquals("[bad_chunk_size]", client.violations.toString());
        assertEquals(1, client.requests.size());
        assertEquals("", client.sent());
    }

    /** What is left of its request was read together with what is wrong with it. */
    @Test
    void aBrokenRequestIsRefusedOnceAndItsRefusalWaits() {
        client.onEveryRequest = request -> request.stream.delayNextRequest(closing -> 100);
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nzz\r\nzz\r\n");
        assertEquals("[bad_chunk_size]", client.violations.toString());
        assertEquals("", client.sent());
        client.clock.advance(150);
        assertTrue(client.sent().startsWith("HTTP/1.1 400 "));
        assertLingers();
    }

    /** All of the request is there, so there is nothing to wait for. */
    @Test
    void aRequestThatIsEndedIsNotWaitedFor() {
        client.answer = request -> {};
        client.send(GET);
        client.connection.end(Failure.of(Cause.ADMIN_CLOSED, "ended by the test"));
        assertTrue(client.sent().startsWith("HTTP/1.1 503 "));
        assertFalse(channel.isOpen());
    }

    private void openTunnel() {
        client.answer = request -> {};
        client.send("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        assertEquals("HTTP/1.1 200 OK\r\n\r\n", client.sent());
        assertFalse(channel.isOutputShutdown());
    }

    @Test
    void trailersAreTheEndOfOneDirectionOfATunnel() {
        openTunnel();
        client.last().stream.trailers(new Fields());
        assertLingers();
        assertEquals("", client.sent());
    }

    @Test
    void aTunnelIsReset() {
        openTunnel();
        client.last().stream.reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "made by the test"));
        assertFalse(channel.isOpen());
        assertNull(client.last().reset);
    }

    @Test
    void aTunnelWhoseBytesNobodyTakesIsReadNoMoreUntilSomebodyDoes() {
        openTunnel();
        client.consuming = false;
        client.send("x".repeat(300_000));
        assertFalse(channel.config().isAutoRead());
        client.last().stream.consumed(300_000);
        assertTrue(channel.config().isAutoRead());
    }

    @Test
    void aTunnelWhoseFirstWordIsItsLastIsHalfClosed() {
        client.answer = request -> {};
        client.send("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), true);
        assertEquals("HTTP/1.1 200 OK\r\n\r\n", client.sent());
        assertLingers();
        client.send("up");
        assertEquals("up", client.last().body.toString());
        client.fin();
        assertTrue(client.last().complete);
        assertFalse(channel.isOpen());
    }
}
