package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who ends a downstream connection, in each of the states it may be in, and who is told. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ServerEndTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String CONNECT = "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n";
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    private static final String OK_CLOSE = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    private static final Failure ENDED = Failure.of(Cause.ADMIN_CLOSED, "ended by the test");
    private final Downstream client = new Downstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private static String post(String framing) {
        return "POST / HTTP/1.1\r\nHost: a.test\r\n" + framing + "\r\n\r\n";
    }

    private void pend(String request) {
        client.answer = received -> {};
        client.send(request);
    }

    private void head(long length) {
        client.last().stream.head(new ResponseHead(200, null, new Fields(), length), length == 0);
        client.last().stream.flush();
    }

    private void openTunnel() {
        pend(CONNECT);
        head(-1);
        client.sent();
    }

    private Cause reset() {
        Failure reset = client.last().reset;
        assertNotNull(reset);
        return reset.cause();
    }

    /** All may have come from the upstream at once, and the client can use what it gets. */
    @Test
    void whatThereIsOfAResponseThatFailsLeavesBeforeTheReset() {
        pend("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 5), false);
        client.last().stream.data(Buffers.of("ab"), false);
        client.last().stream.reset(ENDED);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", client.sent());
        assertFalse(client.channel.isOpen());
    }

    // ---- the client

    @Test
    void aFinAmidABodyIsTheEndOfItsRequest() {
        pend(post("Content-Length: 10") + "abc");
        client.fin();
        assertEquals(Cause.CLIENT_CLOSED, reset());
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void aFinAmidABodyThatNobodyWantsLetsTheResponseBeSent() {
        pend(post("Content-Length: 10") + "abc");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 0), true);
        client.fin();
        assertNull(client.last().reset);
        assertEquals(OK, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aFinDoesNotEndARefusalThatIsStillToBeSent() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\n\r\n");
        client.fin();
        assertTrue(client.channel.isOpen());
        Downstream.refuse(client.last());
        assertTrue(client.sent().startsWith("HTTP/1.1 400 "));
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aRefusalMayTakeLongerThanAClientMay() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\n");
        client.send("Host\r\n\r\n");
        client.clock.advance(10_000);
        Downstream.refuse(client.last());
        assertTrue(client.sent().startsWith("HTTP/1.1 400 "));
    }

    @Test
    void anAnswerToABrokenRequestIsSentWholeOrNotAtAll() {
        client.answerReset = request -> request.stream.head(new ResponseHead(422, null, new Fields(), 2), false);
        client.send(post("Transfer-Encoding: chunked") + "1\r\nx\r\n");
        client.send("zz");
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, reset());
        assertEquals("", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void nothingIsHeardOfAConnectionThatIsGone() {
        pend(GET + GET);
        client.channel.close();
        assertEquals(Cause.CLIENT_CLOSED, reset());
        assertEquals(
                "the client closed the connection",
                Objects.requireNonNull(client.last().reset).detail());
        client.last().reset = null;
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 5), false);
        client.last().stream.data(Buffers.of("hello"), true);
        client.last().stream.flush();
        client.last().stream.consumed(5);
        client.last().stream.reset(ENDED);
        assertNull(client.last().reset);
        assertEquals("", client.sent());
        assertEquals(1, client.requests.size());
    }

    @Test
    void anAnswerThatIsNotFlushedYetIsNoLeakWhenTheClientGoes() {
        pend(GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 5), false);
        client.last().stream.data(Buffers.of("hel"), false);
        client.channel.close();
        assertEquals(Cause.CLIENT_CLOSED, reset());
    }

    // ---- counters

    @Test
    void idleConnectionsThatAreClosedAreCounted() {
        client.send(GET);
        client.clock.advance(5_100);
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.idleCloses);
    }

    @Test
    void aConnectionThatDrainsIsNotClosedForBeingIdle() {
        client.connection.drain();
        client.clock.advance(1_100);
        assertFalse(client.channel.isOpen());
        assertEquals(0, client.idleCloses);
    }

    @Test
    void aClientThatSendsNoRestOfABodyIsNotIdle() {
        pend(post("Content-Length: 10") + "abc");
        head(0);
        assertEquals(OK, client.sent());
        client.clock.advance(1_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
        assertEquals(0, client.idleCloses);
        assertEquals("", client.sent());
    }

    @Test
    void emptyLinesDoNotKeepAConnectionThatDrains() {
        client.connection.drain();
        client.clock.advance(900);
        client.send("\r\n");
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void socketErrorsAreCountedAndEndTheConnection() {
        pend(GET);
        client.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
        assertEquals(Cause.CLIENT_CLOSED, reset());
        assertEquals(1, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aSocketThatFailsOnceAllIsSaidIsNotCounted() {
        new Blockade(client.channel);
        client.send("GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        assertTrue(client.channel.isOpen());
        client.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
        assertEquals(0, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void tlsErrorsAreSocketErrors() {
        client.channel.pipeline().fireExceptionCaught(new DecoderException("bad record"));
        assertEquals(1, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void ourOwnErrorsAreNoneOfTheSocket() {
        pend(GET);
        client.channel.pipeline().fireExceptionCaught(new IllegalStateException("made by the test"));
        assertEquals(Cause.CLIENT_CLOSED, reset());
        assertEquals(0, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void wantOfMemoryIsNoErrorOfTheSocket() {
        pend(GET);
        client.channel.pipeline().fireExceptionCaught(new OutOfMemoryError("made by the test"));
        assertEquals(Cause.CLIENT_CLOSED, reset());
        assertEquals(0, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    /** It is about to be closed anyway. */
    @Test
    void socketErrorsAfterARefusalAreNotCounted() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\n\r\n");
        client.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
        assertEquals(0, client.socketErrors);
        assertFalse(client.channel.isOpen());
    }

    // ---- the operator

    @Test
    void anIdleConnectionIsEndedWithoutAWord() {
        client.send(GET);
        assertEquals(OK, client.sent());
        client.connection.end(ENDED);
        assertEquals("", client.sent());
        assertFalse(client.channel.isOpen());
        assertNull(client.last().reset);
    }

    @Test
    void aRequestThatIsEndedIsAnswered() {
        pend(GET);
        client.connection.end(ENDED);
        assertEquals(Cause.ADMIN_CLOSED, reset());
        assertEquals(
                "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aResponseThatIsEndedIsCutOff() {
        pend(GET);
        head(10);
        client.connection.end(ENDED);
        assertEquals(Cause.ADMIN_CLOSED, reset());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aRefusalThatIsEndedIsNotSent() {
        client.answerRefused = request -> {};
        client.send("GET / HTTP/1.1\r\n\r\n");
        client.connection.end(ENDED);
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void aTunnelIsEnded() {
        openTunnel();
        client.connection.end(ENDED);
        assertEquals(Cause.ADMIN_CLOSED, reset());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aTunnelThatIsOverIsEndedThoughItsLastBytesHaveNotLeft() {
        openTunnel();
        new Blockade(client.channel);
        client.last().stream.data(Buffers.of("bye"), true);
        client.fin();
        assertTrue(client.channel.isOpen());
        client.connection.end(ENDED);
        assertFalse(client.channel.isOpen());
    }

    // ---- what is idle

    @Test
    void isIdleOnlyWhenItCarriesNothing() {
        assertTrue(client.connection.isIdle());
        client.send(GET.substring(0, 10));
        assertFalse(client.connection.isIdle());
        pend(GET.substring(10));
        assertFalse(client.connection.isIdle());
        head(0);
        assertTrue(client.connection.isIdle());
        client.send(post("Content-Length: 3"));
        head(0);
        assertFalse(client.connection.isIdle()); // the body is still to come
        client.send("abc");
        assertTrue(client.connection.isIdle());
        openTunnel();
        assertFalse(client.connection.isIdle());
    }

    @Test
    void isIdleNotWhileThereIsARequestThatNobodyMayLookAt() {
        client.onEveryRequest = request -> request.stream.delayNextRequest(closing -> 100);
        client.send(GET);
        assertTrue(client.connection.isIdle());
        client.send(GET);
        assertFalse(client.connection.isIdle());
        client.clock.advance(150);
        assertTrue(client.connection.isIdle());
        assertEquals(2, client.requests.size());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 100})
    void isRefusedAfterARefusal(long rest) {
        assertFalse(client.connection.isRefused());
        client.onEveryRequest = request -> request.stream.delayNextRequest(closing -> rest);
        pend(GET);
        assertFalse(client.connection.isRefused());
        head(0);
        assertTrue(client.connection.isRefused());
        client.clock.advance(150);
        assertTrue(client.connection.isRefused());
        client.onEveryRequest = request -> {};
        client.send(GET);
        assertFalse(client.connection.isRefused());
        head(0);
        assertFalse(client.connection.isRefused());
    }

    /** The rest belongs to the refusal, not to whatever comes next. */
    @Test
    void onlyTheRequestInProgressMayAskForARest() {
        client.send(GET);
        Downstream.Received first = client.last();
        pend(GET);
        first.stream.delayNextRequest(closing -> 100);
        head(0);
        assertFalse(client.connection.isRefused());
        assertTrue(client.channel.config().isAutoRead());
    }

    // ---- draining

    @Test
    void drainingLetsTheRestOfABodyComeThatNobodyWants() {
        pend(post("Content-Length: 10") + "abc");
        head(0);
        assertEquals(OK, client.sent());
        client.connection.drain();
        assertTrue(client.channel.isOpen());
        client.send("defghij");
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void drainingAnswersOneRequestOfThoseThatArePipelined() {
        pend(GET + GET);
        client.connection.drain();
        assertEquals(1, client.last().drainings);
        head(0);
        assertEquals(OK_CLOSE, client.sent());
        assertEquals(1, client.requests.size());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aYoungConnectionThatClosesWaitsForNothing() {
        Downstream young = new Downstream(
                new Http1ServerSettings(HeadLimits.DEFAULT, new ConnectionTimeouts(0, 0, 0, 2_000, 0), false));
        young.send(GET);
        assertEquals(OK, young.sent());
        young.finish();
    }

    // ---- bodies

    @Test
    void aBodyThatNeverBeginsIs408() {
        pend(post("Content-Length: 10"));
        client.clock.advance(1_900);
        assertNull(client.last().reset);
        client.clock.advance(200);
        assertEquals(Cause.CLIENT_TIMEOUT, reset());
        assertTrue(client.sent().startsWith("HTTP/1.1 408 "));
        assertFalse(client.channel.isOpen());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"})
    void onceTheBodyIsThereTheClientOwesNothing(String body) {
        pend("POST / HTTP/1.1\r\nHost: a.test\r\n" + body);
        assertTrue(client.last().complete);
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        head(0);
        assertEquals(OK, client.sent());
        assertTrue(client.channel.isOpen());
    }

    /** Clients of HTTP/1.0 wait for no 100. */
    @Test
    void aClientOfHttp10IsNotWaitedForWhateverItExpects() {
        pend("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        client.clock.advance(2_100);
        assertEquals(Cause.CLIENT_TIMEOUT, reset());
    }

    @Test
    void aConnectThatIsRedirectedIsNoTunnel() {
        pend(CONNECT);
        client.last().stream.head(new ResponseHead(300, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 300 Multiple Choices\r\nContent-Length: 0\r\n\r\n", client.sent());
        assertEquals("test", client.last().stream.connection().listenerName());
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals(OK, client.sent());
    }

    @Test
    void aClientThatSendsItsBodyUntoldIsWaitedForNoMore() {
        pend(post("Content-Length: 10\r\nExpect: 100-continue") + "abc");
        client.clock.advance(2_100);
        assertEquals(Cause.CLIENT_TIMEOUT, reset());
    }

    @Test
    void aClientThatSentItsBodyUntoldKeepsItsConnection() {
        client.send(post("Content-Length: 3\r\nExpect: 100-continue") + "abc");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", client.sent());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aClientThatIsReadAgainHasItsTime() {
        client.consuming = false;
        client.send(post("Content-Length: 1000000") + "x".repeat(300_000));
        client.clock.advance(10_000);
        client.last().stream.consumed(300_000);
        assertTrue(client.channel.config().isAutoRead());
        assertNull(client.last().reset);
        client.clock.advance(2_100);
        assertEquals(Cause.CLIENT_TIMEOUT, reset());
    }

    @Test
    void aCoreIsToldOnceForAllThatWasReadTogether() {
        pend(post("Transfer-Encoding: chunked"));
        int before = client.last().readCompletes;
        client.send("1\r\nx\r\n1\r\ny\r\n");
        assertEquals(before + 1, client.last().readCompletes);
        assertEquals("xy", client.last().body.toString());
    }

    /** It has been told that the request failed, and knows how it answers. */
    @Test
    void aCoreThatAnswersAFailedRequestWronglyIsNotToldAgain() {
        List<Cause> told = new ArrayList<>();
        client.answerReset = request -> {
            told.add(reset());
            request.stream.head(new ResponseHead(400, null, new Fields(), 1), false);
            request.stream.data(Buffers.of("too long"), true);
        };
        pend(post("Transfer-Encoding: chunked") + "zz");
        assertEquals(List.of(Cause.CLIENT_PROTOCOL_ERROR), told);
        assertFalse(client.channel.isOpen());
    }

    // ---- when it began

    @Test
    void tellsWhenAHeadBeganThatCameInPieces() {
        client.clock.advance(100);
        long began = client.clock.nanos();
        client.send(GET.substring(0, 10));
        client.clock.advance(100);
        client.send(GET.substring(10, 20));
        client.clock.advance(100);
        client.send(GET.substring(20));
        assertEquals(began, client.last().stream.headNanos());
        client.send(GET);
        assertEquals(0, client.last().stream.headNanos());
    }
}
