package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client meets that is too large, too slow or too early, and how its connection ends. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ServerLimitsTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    private static final String OK_CLOSE = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    private Downstream client = new Downstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private static String post(String framing) {
        return "POST / HTTP/1.1\r\nHost: a.test\r\n" + framing + "\r\n\r\n";
    }

    private Failure reset() {
        Failure reset = client.last().reset;
        assertNotNull(reset);
        return reset;
    }

    private Failure refusal() {
        Failure refused = client.last().refused;
        assertNotNull(refused);
        return refused;
    }

    private void assertRefused(String status) {
        String sent = client.sent();
        assertTrue(sent.startsWith("HTTP/1.1 " + status + " "), sent);
        assertTrue(sent.endsWith("Connection: close\r\n\r\n"), sent);
        assertFalse(client.channel.isOpen());
    }

    /** A client of a proxy is told what to use instead. */
    @ParameterizedTest
    @CsvSource({
        "ws://a.test/, websocket_scheme, CONNECT",
        "WSS://a.test/, websocket_scheme, CONNECT",
        "ftp://a.test/x, unknown_scheme, http://",
        "mailto:a@a.test, bad_target, ''",
        "ws:/a.test, bad_target, ''",
    })
    void aTargetOfAnotherSchemeIsRefused(String target, String kind, String advice) {
        client.send("GET " + target + " HTTP/1.1\r\nHost: a.test\r\n\r\n");
        assertRefused("400");
        assertEquals("[" + kind + "]", client.violations.toString());
        assertTrue(refusal().advice().contains(advice));
        assertEquals(advice.isEmpty(), refusal().advice().isEmpty());
    }

    @Test
    void aTooLongRequestLineIs414() {
        client.send("GET /" + "x".repeat(1020));
        assertRefused("414");
    }

    @Test
    void tooLargeFieldsAre431EvenBeforeTheyAreComplete() {
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\nX: " + "x".repeat(4096));
        assertRefused("431");
    }

    @Test
    void tooManyFieldsAre431() {
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\n" + "X: 1\r\n".repeat(20) + "\r\n");
        assertRefused("431");
    }

    @Test
    void tooLargeTrailersAre431() {
        client.send(post("Transfer-Encoding: chunked") + "0\r\nX: " + "x".repeat(5000));
        assertRefused("431");
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, reset().cause());
    }

    @Test
    void tooManyChunkExtensionsAreRefused() {
        client.send(post("Transfer-Encoding: chunked") + ("1;" + "x".repeat(1000) + "\r\nx\r\n").repeat(9));
        assertRefused("400");
        assertEquals("[chunk_extensions_too_large]", client.violations.toString());
    }

    @Test
    void theCoreItselfMayAnswerAFailedRequest() {
        List<Integer> statuses = new ArrayList<>();
        client.answerReset = request -> {
            Fields fields = new Fields();
            fields.add(FieldName.SERVER, "x");
            request.stream.head(new ResponseHead(422, null, fields, 0), true);
            statuses.add(422);
        };
        client.send(post("Transfer-Encoding: chunked") + "zz\r\n");
        assertEquals(
                "HTTP/1.1 422 Unprocessable Content\r\nServer: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                client.sent());
        assertEquals(1, statuses.size());
    }

    @Test
    void aResponseThatHasBegunIsCutOffWhenItsRequestFails() {
        client.send(post("Transfer-Encoding: chunked") + "1\r\nx\r\n");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 10), false);
        client.last().stream.data(Buffers.of("12345"), false);
        client.last().stream.flush();
        client.send("zz");
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, reset().cause());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", client.sent());
        assertFalse(client.channel.isOpen());
    }

    private static Downstream ageing(long idleMillis) {
        return new Downstream(new Http1ServerSettings(
                new HeadLimits(1024, 4096, 20), new ConnectionTimeouts(1_000, 2_000, idleMillis, 2_000, 3_000), false));
    }

    @Test
    void anOldConnectionAnswersOnceMoreAndSaysThatItCloses() {
        client.finish();
        client = ageing(0);
        client.send(GET);
        assertEquals(OK, client.sent());
        client.clock.advance(2_100);
        assertTrue(client.channel.isOpen());
        client.send(GET);
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void anOldConnectionIsClosedOnceItHasBeenIdleForAWhile() {
        client.finish();
        client = ageing(0);
        client.send(GET);
        assertEquals(OK, client.sent());
        client.clock.advance(6_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void anOldConnectionIsNotKeptForLongerThanAnyOther() {
        client.finish();
        client = ageing(1_000);
        for (int i = 0; i < 3; i++) {
            client.send(GET);
            assertEquals(OK, client.sent());
            client.clock.advance(900);
        }
        assertTrue(client.channel.isOpen());
        client.clock.advance(400); // a second since it became old, or since its last response
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aConnectionThatBecomesOldWithinAResponseIsClosedSoonAfterIt() {
        client.finish();
        client = ageing(0);
        client.answer = request -> request.stream.head(new ResponseHead(200, null, new Fields(), 5), false);
        client.send(GET);
        client.clock.advance(2_100);
        client.last().stream.data(Buffers.of("hello"), true);
        client.last().stream.flush();
        client.sent();
        client.clock.advance(4_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aSlowHeadIs408() {
        client.send("GET / HTTP/1.1\r\n");
        client.clock.advance(900);
        client.send("Host: a.t");
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertRefused("408");
        Failure refused = client.last().refused;
        assertNotNull(refused);
        assertEquals(Cause.CLIENT_TIMEOUT, refused.cause());
    }

    @Test
    void anIdleConnectionIsClosedWithoutAWord() {
        client.clock.advance(4_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void aConnectionIdleBetweenRequestsIsClosedWithoutAWord() {
        client.clock.advance(4_000);
        client.send(GET);
        assertEquals(OK, client.sent());
        client.clock.advance(4_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void waitingForAResponseIsNotIdleness() {
        client.answer = request -> {};
        client.send(GET);
        client.clock.advance(60_000);
        assertNull(client.last().reset);
        Downstream.echo(client.last());
        assertEquals(OK, client.sent());
    }

    @Test
    void aBodyThatStopsComingIs408() {
        client.send(post("Content-Length: 10") + "abc");
        client.clock.advance(1_900);
        client.send("d");
        client.clock.advance(1_900);
        assertNull(client.last().reset);
        client.clock.advance(200);
        assertEquals(Cause.CLIENT_TIMEOUT, reset().cause());
        assertRefused("408");
    }

    @Test
    void aBodyThatWeDoNotReadIsNotSlow() {
        client.consuming = false;
        client.send(post("Content-Length: 1000000") + "x".repeat(300_000));
        assertFalse(client.channel.config().isAutoRead());
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        client.last().stream.consumed(300_000);
        assertTrue(client.channel.config().isAutoRead());
    }

    @Test
    void aConnectionThatHasLivedLongEnoughTakesNoMoreRequests() {
        client.finish();
        client = new Downstream(
                new Http1ServerSettings(HeadLimits.DEFAULT, new ConnectionTimeouts(0, 0, 0, 1_000, 0), false));
        client.send(GET);
        assertEquals(OK, client.sent());
        client.answer = request -> {};
        client.send(GET);
        client.clock.advance(1_100);
        assertTrue(client.channel.isOpen());
        Downstream.echo(client.last());
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aConnectionThatAnnouncesItsCloseStillServesWhoWasToldThatItPersists() {
        client.answer = request -> {};
        client.send(GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 2), false);
        client.connection.announceClose();
        client.last().stream.data(Buffers.of(new byte[] {'o', 'k'}), true);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", client.sent());
        assertTrue(client.channel.isOpen());
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aConnectionThatGrowsOldAmidAResponseServesOneRequestMore() {
        client = new Downstream(
                new Http1ServerSettings(HeadLimits.DEFAULT, new ConnectionTimeouts(0, 0, 0, 1_000, 0), false));
        client.answer = request -> {};
        client.send(GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 2), false);
        client.clock.advance(1_100);
        client.last().stream.data(Buffers.of(new byte[] {'o', 'k'}), true);
        client.last().stream.flush();
        assertTrue(client.channel.isOpen());
        client.sent();
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingClosesAnIdleConnection() {
        client.send(GET);
        client.sent();
        client.connection.drain();
        client.channel.runPendingTasks();
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingAnswersAFirstRequestThatIsStillOnItsWay() {
        client.connection.drain();
        client.clock.advance(900);
        client.send(GET);
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingClosesAConnectionThatNeverGetsARequest() {
        client.connection.drain();
        client.clock.advance(1_100);
        client.channel.runPendingTasks();
        assertEquals("", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingWaitsNoLongerForAFirstRequestOnceTheConnectionIsOld() {
        client.finish();
        client = ageing(0);
        client.clock.advance(1_900);
        client.connection.drain();
        client.clock.advance(900); // it became old meanwhile
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        client.channel.runPendingTasks();
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingLetsARequestInFlightFinish() {
        client.answer = request -> {};
        client.send(GET);
        client.connection.drain();
        Downstream.echo(client.last());
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void drainingAnswersARequestHalfReceived() {
        client.send("GET / HTTP/1.1\r\nHost:");
        client.connection.drain();
        client.send(" a.test\r\n\r\n");
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void relaysA100ToTheClientThatWaitsForIt() {
        client.send(post("Content-Length: 2\r\nExpect: 100-continue"));
        client.last().stream.head(new ResponseHead(100, null, new Fields(), -1), false);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 100 Continue\r\n\r\n", client.sent());
        client.send("ok");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", client.sent());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void doesNotWaitForABodyThatTheClientHoldsBack() {
        client.send(post("Content-Length: 2\r\nExpect: 100-continue"));
        client.last().stream.head(new ResponseHead(403, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void relaysEarlyHintsToHttp11Only() {
        client.answer = request -> {
            Fields hints = new Fields();
            hints.add(FieldName.of("Link"), "</x>");
            request.stream.head(new ResponseHead(103, null, hints, -1), false);
            Downstream.echo(request);
        };
        client.send(GET);
        assertEquals("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + OK, client.sent());
        client.send("GET / HTTP/1.0\r\n\r\n");
        assertEquals(OK_CLOSE, client.sent());
    }

    @Test
    void dropsTheSmallRestOfABodyNobodyWantsAndGoesOn() {
        client.send(post("Content-Length: 10") + "abc");
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", client.sent());
        client.send("defghij" + GET);
        assertEquals(2, client.requests.size());
        assertEquals(OK, client.sent());
    }

    @Test
    void closesInsteadOfReadingTheLargeRestOfABodyNobodyWants() {
        client.send(post("Content-Length: 1000000") + "abc");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertEquals(OK_CLOSE, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void closesWhenTheChunkedRestOfABodyNobodyWantsGrowsLarge() {
        client.send(post("Transfer-Encoding: chunked") + "1\r\nx\r\n");
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", client.sent());
        client.send("1000\r\n" + "x".repeat(0x1000) + "\r\n");
        assertTrue(client.channel.isOpen());
        client.send("20000\r\n" + "x".repeat(0x20000) + "\r\n0\r\n\r\n" + GET);
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.requests.size());
    }

    @Test
    void aResetClosesTheConnection() {
        client.answer = request -> request.stream.reset(Failure.of(Cause.ADMIN_CLOSED, "test"));
        client.send(GET + GET);
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.requests.size());
        assertNull(client.last().reset);
    }

    @Test
    void aResponseShorterThanAnnouncedIsCutOff() {
        client.answer = request -> {};
        client.send(GET + GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 5), false);
        client.last().stream.data(Buffers.of("123"), false);
        client.last().stream.flush();
        client.last().stream.data(Buffers.of("4"), true);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n123", client.sent());
        assertFalse(client.channel.isOpen());
        assertEquals(1, client.requests.size());
    }

    @Test
    void aResponseLongerThanAnnouncedSendsNothingBeyond() {
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 1), false);
            request.stream.data(Buffers.of(new byte[2]), true);
        };
        client.send(GET);
        assertFalse(client.channel.isOpen());
        assertFalse(client.sent().contains("\0"));
    }

    @Test
    void framingFieldsTheCoreLeftDoNotContradict() {
        client.answer = request -> {
            Fields fields = new Fields();
            fields.add(FieldName.CONTENT_LENGTH, "7");
            fields.add(FieldName.TRANSFER_ENCODING, "gzip");
            fields.add(FieldName.CONNECTION, "close");
            request.stream.head(new ResponseHead(200, null, fields, 0), true);
        };
        client.send(GET);
        assertEquals(OK, client.sent());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aTunnelPassesBytesBothWaysUntilBothHaveEnded() {
        client.answer = request -> {};
        client.send("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\nearly");
        assertEquals("", client.last().body.toString());
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        client.last().stream.flush();
        assertEquals("early", client.last().body.toString());
        assertEquals("HTTP/1.1 200 OK\r\n\r\n", client.sent());
        client.send("GET / HTTP/1.1\r\n\r\n");
        assertEquals("earlyGET / HTTP/1.1\r\n\r\n", client.last().body.toString());
        ByteBuf down = Buffers.of("down");
        client.last().stream.data(down, false);
        client.last().stream.flush();
        assertEquals("down", client.sent());
        client.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertTrue(client.last().complete);
        assertTrue(client.channel.isOpen());
        client.last().stream.data(Buffers.of("bye"), true);
        assertEquals("bye", client.sent());
        assertFalse(client.channel.isOpen());
        assertNull(client.last().reset);
    }

    @Test
    void aRefusedConnectKeepsTheConnectionUnlessBytesFollowed() {
        client.answer = request -> {};
        client.send("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n");
        client.last().stream.head(new ResponseHead(403, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertTrue(client.channel.isOpen());
        client.send("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n" + GET);
        client.last().stream.head(new ResponseHead(403, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertFalse(client.channel.isOpen());
        assertEquals(2, client.requests.size());
    }

    @Test
    void handsAConnectionOverThatAsksForH2c() {
        List<String> taken = new ArrayList<>();
        Upgrade upgrade = new Upgrade() {
            @Override
            public boolean accepts(byte[] settings) {
                return settings.length == 6;
            }

            @Override
            public void upgrade(ChannelHandlerContext ctx, RequestHead head, byte[] settings, ByteBuf unread) {
                taken.add(head.path() + " " + settings.length + " " + unread.toString(StandardCharsets.ISO_8859_1));
                unread.release();
                ctx.pipeline().remove(ctx.handler());
            }
        };
        client.finish();
        client = new Downstream(new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false), upgrade);
        client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABk\r\n\r\nPRI");
        assertEquals("[/x 6 PRI]", taken.toString());
        assertTrue(client.requests.isEmpty());
    }

    @Test
    void aClientThatReadsNoAnswersGetsNoMoreOfThem() {
        AtomicInteger blocked = new AtomicInteger(1);
        client.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                if (blocked.get() == 0) {
                    ctx.flush();
                }
            }
        });
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 8_000), false);
            request.stream.data(Buffers.of(new byte[8_000]), true);
            request.stream.flush();
        };
        client.send(GET.repeat(100));
        assertTrue(client.requests.size() < 10, () -> "answered " + client.requests.size());
        for (int i = 0; i < 10; i++) {
            client.send(GET.repeat(200));
        }
        assertTrue(client.requests.size() < 10, () -> "answered " + client.requests.size());
        assertFalse(client.channel.config().isAutoRead());
        client.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        blocked.set(0);
        client.channel.flush();
        assertEquals(2100, client.requests.size());
        assertTrue(client.sent().length() > 2100 * 8_000);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void emptyLinesAfterARequestDoNotKeepAConnectionForEver() {
        client.send(GET + "\r\n");
        assertEquals(OK, client.sent());
        client.clock.advance(5_100);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aPipelinedHeadCutOffByFinClosesAfterTheAnswersBefore() {
        client.finish();
        client = new Downstream(Downstream.HALF_CLOSE);
        client.answer = request -> {};
        client.send(GET + "GET /b HT");
        client.fin();
        Downstream.echo(client.last());
        assertEquals(OK, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aClientThatWaitsToBeToldToSendItsBodyIsNotSlow() {
        client.send(post("Content-Length: 2\r\nExpect: 100-continue"));
        client.clock.advance(10_000);
        assertEquals("", client.sent());
        client.last().stream.head(new ResponseHead(100, null, new Fields(), -1), false);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 100 Continue\r\n\r\n", client.sent());
        client.clock.advance(1_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertRefused("408");
    }

    @Test
    void tlsDoesNotSayThatAResponseCutShortIsWhole() {
        List<String> goodbyes = new ArrayList<>();
        client.channel
                .pipeline()
                .addBefore(client.channel.pipeline().lastContext().name(), "tls", new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                        if (ctx.channel().isOpen()) {
                            goodbyes.add("close_notify");
                        }
                        ctx.close(promise);
                    }
                });
        client.answer = request -> {};
        client.send("GET / HTTP/1.0\r\n\r\n");
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        client.last().stream.reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "lost"));
        client.channel.runPendingTasks();
        assertFalse(client.channel.isOpen());
        assertEquals(List.of(), goodbyes);
    }

    @Test
    void aBodyInTinyPiecesThatNobodyTakesStopsReadingSoon() {
        client.consuming = false;
        client.send(post("Transfer-Encoding: chunked") + "1\r\nx\r\n".repeat(1_000));
        assertFalse(client.channel.config().isAutoRead());
        client.last().stream.consumed(1_000);
        assertTrue(client.channel.config().isAutoRead());
    }
}
