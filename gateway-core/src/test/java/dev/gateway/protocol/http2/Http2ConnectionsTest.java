package dev.gateway.protocol.http2;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
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
import dev.gateway.stream.RetrySafety;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.LoggedLines;
import dev.gateway.testing.RecordCopy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both halves against each other: what one side does, the other side's stream tells. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // without credit its loops never end
class Http2ConnectionsTest {
    private Pair pair = new Pair();

    @AfterEach
    void nothingIsLeft() {
        pair.close();
        assertEquals(pair.serverCounts.opened, pair.serverCounts.closed);
        assertEquals(pair.clientCounts.opened, pair.clientCounts.closed);
    }

    private void with(Http2ServerSettings server, Http2ClientSettings client) {
        pair.close();
        pair = new Pair(server, client);
    }

    static RequestHead get(String path) {
        return head(Method.GET, path);
    }

    static RequestHead head(Method method, String path) {
        return new RequestHead(
                method,
                new AsciiString("http"),
                new AsciiString("example.org"),
                new AsciiString(path),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
    }

    static ResponseHead response(int status) {
        return new ResponseHead(status, null, new Fields(), RequestHead.UNKNOWN_LENGTH);
    }

    static ByteBuf text(String text) {
        return Buffers.of(text);
    }

    private Exchange send(RequestHead head, boolean last) {
        Exchange exchange = pair.open();
        exchange.client().head(head, last);
        exchange.client().flush();
        pair.pump();
        return exchange;
    }

    private Exchange request(int i) {
        return pair.requests.get(i);
    }

    @Test
    void aDefectThatEndsAConnectionIsLogged() {
        try (LoggedLines log = LoggedLines.of(MultiplexedConnection.class).unseen()) {
            send(get("/"), true);
            pair.serverChannel.pipeline().fireExceptionCaught(new IllegalStateException("a defect"));
            pair.pump();
            assertEquals(1, log.all().size());
            assertEquals("a defect", log.all().get(0).getThrowableProxy().getMessage());
        }
        assertEquals(List.of(), pair.serverCounts.violations, "the client did nothing wrong");
        assertTrue(pair.life.contains("going away"));
    }

    @Test
    void aRequestIsAnsweredWithHeadBodyAndTrailers() {
        assertEquals(List.of("ready"), pair.life);
        RequestHead head = get("/a?b=c");
        head.fields().add(FieldName.of("X-Tier"), "gold");
        head.fields().add(FieldName.of("connection"), "close");
        Exchange mine = send(head, true);
        Exchange theirs = request(0);
        assertTrue(theirs.ended);
        assertEquals("/a?b=c", theirs.request().path().toString());
        assertEquals("example.org", theirs.request().authority().toString());
        assertEquals("GET", theirs.request().method().toString());
        assertEquals("x-tier: gold\n", theirs.request().fields().toString());
        assertEquals(0, theirs.request().contentLength());

        ResponseHead response = response(200);
        response.fields().add(FieldName.CONTENT_TYPE, "text/plain");
        theirs.server().head(response(103), false);
        theirs.server().head(response, false);
        theirs.server().data(text("hello "), false);
        theirs.server().data(text("world"), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("grpc-status"), "0");
        theirs.server().trailers(trailers);
        theirs.server().flush();
        pair.pump();
        assertEquals(103, mine.heads.get(0).status());
        assertEquals(200, mine.heads.get(1).status());
        assertEquals("content-type: text/plain\n", mine.heads.get(1).fields().toString());
        assertEquals("hello world", mine.body.toString());
        assertEquals("grpc-status: 0\n", mine.trailers().toString());
        assertEquals(1, mine.readCompletes);
        assertEquals(0, pair.client.activeStreams());
    }

    @Test
    void shortMessagesOfManyStreamsLeaveInOneBuffer() {
        for (int i = 0; i < 20; i++) {
            send(get("/" + i), true);
        }
        for (Exchange theirs : pair.requests) {
            theirs.server().head(response(200), false);
            theirs.server().data(text("short"), false);
            theirs.server().flush();
        }
        pair.serverChannel.runPendingTasks();
        ByteBuf sent = pair.serverChannel.readOutbound();
        assertNull(pair.serverChannel.readOutbound(), "more buffers than one");
        assertEquals(40, Frames.read(sent).size());
        sent.release();
    }

    @Test
    void longPayloadsStayInOrderBetweenShortOnes() {
        send(get("/"), true);
        Exchange theirs = request(0);
        StringBuilder expected = new StringBuilder();
        theirs.server().head(response(200), false);
        for (int i = 0; i < 30; i++) {
            String part = (i % 3 == 0 ? "x".repeat(5000) : "part ") + i;
            expected.append(part);
            theirs.server().data(text(part), i == 29);
            theirs.server().flush();
            pair.serverChannel.runPendingTasks();
        }
        ByteBuf sent = Unpooled.buffer();
        for (ByteBuf out = pair.serverChannel.readOutbound(); out != null; out = pair.serverChannel.readOutbound()) {
            sent.writeBytes(out);
            out.release();
        }
        StringBuilder body = new StringBuilder();
        Frames.read(sent).stream()
                .filter(frame -> frame.type() == Frames.DATA)
                .forEach(frame -> body.append(frame.payload().toString(US_ASCII)));
        assertEquals(expected.toString(), body.toString());
    }

    @Test
    void aHeadLargerThanAFrameFollowsWhatWasWrittenBefore() {
        Exchange first = send(get("/"), true);
        Exchange second = send(get("/"), true);
        ResponseHead large = response(200);
        for (int i = 0; i < 8; i++) {
            large.fields().add(FieldName.of("x-large-" + i), "~".repeat(6000)); // which Huffman coding makes no shorter
        }
        request(0).server().head(response(204), true);
        request(1).server().head(large, true);
        request(1).server().flush();
        pair.pump();
        assertEquals(204, first.heads.get(0).status());
        assertEquals(large.fields().toString(), second.heads.get(0).fields().toString());
        assertTrue(pair.serverCounts.sent[Frames.CONTINUATION] >= 2);
    }

    @Test
    void whatWasNotFlushedIsLetGoOfWithTheConnection() {
        send(get("/"), true);
        request(0).server().head(response(200), false);
        pair.serverChannel.close();
        request(0).server().data(text("late"), true);
        assertNull(pair.serverChannel.readOutbound());
    }

    @Test
    void aBodyLargerThanEveryWindowFlowsWithFewWindowUpdatesAndNoneAfterItsEnd() {
        Exchange mine = send(get("/"), true);
        Exchange theirs = request(0);
        theirs.server().head(response(200), false);
        int total = 16 * 1024 * 1024;
        int left = total;
        while (left > 0) {
            while (left > 0 && theirs.server().isWritable()) {
                theirs.server().data(Buffers.of(new byte[16 * 1024]), left == 16 * 1024);
                left -= 16 * 1024;
            }
            theirs.server().flush();
            pair.pump();
        }
        assertEquals(total, mine.received);
        assertTrue(mine.ended);
        int windows = total / Http2ClientSettings.DEFAULT.streamWindow();
        int updates = pair.clientCounts.sent[Http2FrameTypes.WINDOW_UPDATE];
        assertTrue(updates <= 3 * windows, updates + " updates for " + windows + " windows");
    }

    @Test
    void aSinkWithoutRoomSaysSoUntilThePeerTakesBytes() {
        Exchange mine = send(get("/"), true);
        mine.keepCredit = true;
        Exchange theirs = request(0);
        theirs.server().head(response(200), false);
        int sent = 0;
        while (theirs.server().isWritable()) {
            theirs.server().data(Buffers.of(new byte[10_000]), false);
            sent += 10_000;
            theirs.server().flush();
            pair.pump();
        }
        assertTrue(sent >= 256 * 1024 && sent < 256 * 1024 + 10_000, "sent " + sent);
        assertEquals(256 * 1024, mine.received);
        assertEquals(0, theirs.writable);
        assertEquals(1, pair.serverCounts.pauses);
        mine.client().consumed(mine.received);
        pair.pump();
        assertEquals(1, theirs.writable);
        assertEquals(sent, mine.received);
        theirs.server().data(Unpooled.EMPTY_BUFFER, true);
        theirs.server().flush();
        pair.pump();
        assertTrue(mine.ended);
    }

    @Test
    void aRequestBodyAndItsResponseFlowAtTheSameTime() {
        Exchange mine = send(head(Method.POST, "/"), false);
        Exchange theirs = request(0);
        assertFalse(theirs.ended);
        theirs.server().head(response(200), false);
        theirs.server().flush();
        pair.pump();
        assertEquals(200, mine.heads.get(0).status());
        for (int i = 0; i < 3; i++) {
            mine.client().data(text("ping" + i), false);
            mine.client().flush();
            pair.pump();
            theirs.server().data(text("pong" + i), false);
            theirs.server().flush();
            pair.pump();
        }
        assertEquals("ping0ping1ping2", theirs.body.toString());
        assertEquals("pong0pong1pong2", mine.body.toString());
        Fields trailers = new Fields();
        trailers.add(FieldName.of("checksum"), "1");
        mine.client().trailers(trailers);
        mine.client().flush();
        pair.pump();
        assertNotNull(theirs.trailers);
        theirs.server().data(Unpooled.EMPTY_BUFFER, true);
        theirs.server().flush();
        pair.pump();
        assertTrue(mine.ended);
        assertNull(mine.failure);
        assertNull(theirs.failure);
    }

    @Test
    void whatFollowsAnEarlyResponseIsDroppedWithoutAnError() {
        Exchange mine = send(head(Method.POST, "/"), false);
        Exchange theirs = request(0);
        theirs.server().head(response(413), true);
        theirs.server().flush();
        pair.pump();
        assertEquals(413, mine.heads.get(0).status());
        assertTrue(mine.ended);
        assertNull(mine.failure);
        mine.client().data(text("too late"), true);
        mine.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        pair.pump();
        assertEquals(0, theirs.received);
        assertNull(theirs.failure);
        assertEquals(0, pair.serverCounts.sent[Http2FrameTypes.RST_STREAM]);
        Exchange next = send(get("/"), true);
        request(1).server().head(response(200), true);
        request(1).server().flush();
        pair.pump();
        assertTrue(next.ended);
    }

    @Test
    void aClientThatGoesAwayIsToldToTheOtherSideOnce() {
        Exchange mine = send(head(Method.POST, "/"), false);
        Exchange theirs = request(0);
        theirs.server().head(response(200), false);
        theirs.server().flush();
        mine.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        pair.pump();
        assertEquals(Cause.CLIENT_CLOSED, theirs.failed().cause());
        ByteBuf late = text("late");
        theirs.server().data(late, false);
        theirs.server().flush();
        assertEquals(0, late.refCnt());
        assertNull(mine.failure);
        assertEquals(0, pair.client.activeStreams());
    }

    @Test
    void aFailureAfterTheHeadResetsTheStreamAndNothingElse() {
        Exchange mine = send(get("/"), true);
        Exchange other = send(get("/"), true);
        request(0).server().head(response(200), false);
        request(0).server().flush();
        pair.pump();
        request(0).server().reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, ""));
        request(1).server().head(response(204), true);
        request(1).server().flush();
        pair.pump();
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, mine.failed().cause());
        assertEquals(204, other.heads.get(0).status());
    }

    @Test
    void aFailureBeforeTheHeadMayBeRetriedIfTheMethodAllows() {
        Exchange mine = send(get("/"), true);
        request(0).server().reset(Failure.of(Cause.CONNECT_FAILED, ""));
        pair.pump();
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, mine.failed().cause());
        assertEquals(RetrySafety.IF_IDEMPOTENT, mine.failed().retry());
    }

    @Test
    void aLostConnectionFailsItsStreamsByWhatTheyHadSeen() {
        Exchange before = send(get("/"), true);
        Exchange amid = send(get("/"), true);
        request(1).server().head(response(200), false);
        request(1).server().flush();
        pair.pump();
        pair.serverChannel.close();
        pair.pump();
        assertEquals(RetrySafety.IF_IDEMPOTENT, before.failed().retry());
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, before.failed().cause());
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, amid.failed().cause());
        assertEquals(Cause.CLIENT_CLOSED, request(0).failed().cause());
        assertEquals(List.of("ready", "going away", "closed"), pair.life);
        assertEquals(0, pair.client.availableStreams());
    }

    @Test
    void streamsBeyondTheLimitAreRefusedOneByOneAndRetriable() {
        with(
                RecordCopy.of(
                        Http2ServerSettings.DEFAULT,
                        Map.of("streams", Http2ServerSettings.Streams.DEFAULT.withMaxConcurrent(2))),
                Http2ClientSettings.DEFAULT);
        assertEquals(2, pair.client.availableStreams());
        send(head(Method.POST, "/"), false);
        assertEquals(1, pair.client.availableStreams());
        send(head(Method.POST, "/"), false);
        assertEquals(0, pair.client.availableStreams());
        Exchange third = send(head(Method.POST, "/"), false);
        assertEquals(RetrySafety.ALWAYS, third.failed().retry());
        assertEquals(2, pair.requests.size());
        assertTrue(pair.serverChannel.isOpen());
    }

    @Test
    void aDrainedConnectionFinishesWhatRunsAndCloses() {
        Exchange mine = send(get("/"), true);
        pair.server.drain();
        pair.pump();
        assertEquals(0, pair.client.availableStreams());
        assertEquals(List.of("ready", "going away"), pair.life);
        assertTrue(pair.serverChannel.isOpen());
        request(0).server().head(response(200), false);
        request(0).server().data(text("done"), true);
        request(0).server().flush();
        pair.pump();
        assertEquals("done", mine.body.toString());
        assertNull(mine.failure);
        assertFalse(pair.serverChannel.isOpen());
        assertEquals(List.of("ready", "going away", "closed"), pair.life);
    }

    @Test
    void aConnectionDrainedBeforeItsFirstRequestStillAnswersThatOne() {
        pair.server.drain();
        pair.pump();
        Exchange mine = send(get("/"), true);
        assertEquals(0, pair.client.availableStreams());
        request(0).server().head(response(200), true);
        request(0).server().flush();
        pair.pump();
        assertTrue(mine.ended);
        assertNull(mine.failure);
        assertFalse(pair.serverChannel.isOpen());
    }

    @Test
    void aConnectionDrainedBeforeItsFirstRequestDoesNotWaitForLong() {
        pair.server.drain();
        pair.advance(pair.serverChannel, 1_100);
        assertFalse(pair.serverChannel.isOpen());
    }

    @Test
    void aRetiredUpstreamConnectionClosesAfterItsLastStream() {
        Exchange mine = send(get("/"), true);
        pair.client.drain();
        assertEquals(0, pair.client.availableStreams());
        request(0).server().head(response(200), true);
        request(0).server().flush();
        pair.pump();
        assertTrue(mine.ended);
        assertFalse(pair.clientChannel.isOpen());
    }

    @Test
    void anUnusedConnectionIsClosedAfterItsIdleTime() {
        pair.advance(pair.serverChannel, 74_000);
        assertTrue(pair.serverChannel.isOpen());
        pair.advance(pair.serverChannel, 2_000);
        assertFalse(pair.serverChannel.isOpen());
        assertEquals(1, pair.serverCounts.idle);
    }

    @Test
    void aConnectMakesATunnelThatEndsOneDirectionAtATime() {
        Exchange mine = pair.open();
        mine.client()
                .head(
                        new RequestHead(
                                Method.CONNECT,
                                new AsciiString("http"),
                                new AsciiString("db.example:5432"),
                                AsciiString.EMPTY_STRING,
                                new Fields(),
                                RequestHead.UNKNOWN_LENGTH),
                        false);
        mine.client().flush();
        pair.pump();
        Exchange theirs = request(0);
        assertEquals("db.example:5432", theirs.request().authority().toString());
        theirs.server().head(response(200), false);
        theirs.server().data(text("from server"), true);
        theirs.server().flush();
        pair.pump();
        assertEquals("from server", mine.body.toString());
        assertTrue(mine.ended);
        mine.client().data(text("from client"), true);
        mine.client().flush();
        pair.pump();
        assertEquals("from client", theirs.body.toString());
        assertTrue(theirs.ended);
        assertEquals(0, pair.client.activeStreams());
        assertEquals(0, pair.serverCounts.sent[Http2FrameTypes.RST_STREAM]);
    }

    @Test
    void repeatedResponsesCostAlmostNothingForTheirHeaders() {
        int plain = 0;
        for (int i = 0; i < 50; i++) {
            Exchange mine = send(get("/"), true);
            ResponseHead head = response(200);
            head.fields().add(FieldName.SERVER, "origin/1.2.3 (linux; amd64)");
            head.fields().add(FieldName.CONTENT_TYPE, "application/json; charset=utf-8");
            head.fields().add(FieldName.CONTENT_LENGTH, "0");
            head.fields().add(FieldName.CACHE_CONTROL, "no-store, no-cache, must-revalidate");
            head.fields().add(FieldName.of("X-Frame-Options"), "DENY");
            head.fields().add(FieldName.of("Strict-Transport-Security"), "max-age=31536000; includeSubDomains");
            plain += head.fields().wireLength();
            request(i).server().head(head, true);
            request(i).server().flush();
            pair.pump();
            assertEquals(6, mine.heads.get(0).fields().size());
        }
        int sent = pair.serverCounts.sentBytes[Http2FrameTypes.HEADERS];
        assertTrue(sent * 20 <= plain, sent + " of " + plain + " bytes");
    }
}
