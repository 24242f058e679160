package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When what a core writes is sent, how it is framed, and what becomes of a client that does not take it. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class ServerOutputTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String HEAD_OF_10 = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    private static final int MAX_UNFLUSHED = 64 * 1024;
    private final Downstream client = new Downstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private void begin(long length) {
        client.answer = request -> {};
        client.send(GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), length), false);
    }

    private void data(int length, boolean last) {
        client.last().stream.data(Buffers.of(new byte[length]), last);
    }

    /** Bytes written after the one head that has been flushed. */
    @ParameterizedTest
    @CsvSource({"65536, 0", "65537, 1"})
    void muchIsSentThoughNobodyFlushesIt(int length, int flushes) {
        begin(1_000_000);
        client.last().stream.flush();
        client.sent();
        client.flushes = 0;
        // In pieces that are copied together, of which the channel does not know.
        for (int left = length; left > 0; left -= 400) {
            data(Math.min(400, left), false);
        }
        assertEquals(flushes, client.flushes);
        data(400, false);
        assertEquals(1, client.flushes);
        // It is counted from the last flush.
        for (int left = MAX_UNFLUSHED - 800; left > 0; left -= 400) {
            data(400, false);
        }
        assertEquals(1, client.flushes);
    }

    private Failure reset() {
        Failure reset = client.last().reset;
        assertNotNull(reset);
        return reset;
    }

    @Test
    void aClientThatTakesNothingIsGivenUp() {
        Blockade blockade = new Blockade(client.channel);
        begin(10);
        client.last().stream.flush();
        client.clock.advance(2_900);
        assertNull(client.last().reset);
        client.clock.advance(200);
        assertEquals(Cause.CLIENT_TIMEOUT, reset().cause());
        assertFalse(client.channel.isOpen());
        blockade.lift();
        assertEquals("", client.sent());
    }

    @Test
    void aClientThatTakesSomeIsNot() {
        Blockade blockade = new Blockade(client.channel);
        begin(100);
        client.last().stream.flush();
        for (int i = 0; i < 5; i++) {
            client.clock.advance(1_500);
            blockade.lift();
            blockade.restore();
            data(10, false);
            client.last().stream.flush();
        }
        assertNull(client.last().reset);
        client.clock.advance(2_900);
        assertNull(client.last().reset);
        client.clock.advance(3_200); // it took some since the timer began
        assertEquals(Cause.CLIENT_TIMEOUT, reset().cause());
    }

    @Test
    void aClientThatHasTakenAllIsNotWatched() {
        begin(10);
        client.last().stream.flush();
        assertEquals(HEAD_OF_10, client.sent());
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aClientThatTakesAllAtLastIsNotGivenUp() {
        Blockade blockade = new Blockade(client.channel);
        begin(10);
        client.last().stream.flush();
        client.clock.advance(2_000);
        blockade.lift();
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        assertEquals(HEAD_OF_10, client.sent());
        assertTrue(client.channel.isOpen());
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"})
    void aClientThatDoesNotTakeItsLastResponseIsGivenUp(String request) {
        new Blockade(client.channel);
        client.send(request);
        assertTrue(client.channel.isOpen());
        client.clock.advance(2_900);
        assertTrue(client.channel.isOpen());
        client.clock.advance(200);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void whatNobodyLimitsMayTakeForEver() {
        client.finish();
        Downstream patient =
                new Downstream(new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false));
        Blockade blockade = new Blockade(patient.channel);
        patient.send(GET);
        patient.clock.advance(100_000);
        blockade.lift();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", patient.sent());
        assertTrue(patient.channel.isOpen());
        patient.finish();
    }

    /** It has no use for what follows, and reads nothing more. */
    @Test
    void aCoreIsToldWhenThereIsRoomAgain() {
        Blockade blockade = new Blockade(client.channel);
        begin(1_000_000);
        data(200_000, false);
        assertFalse(client.last().stream.isWritable());
        assertEquals(0, client.last().writables);
        blockade.lift();
        assertEquals(1, client.last().writables);
        assertTrue(client.last().stream.isWritable());
    }

    @Test
    void aRequestBehindThoseThatFilledTheChannelIsReadToItsEnd() {
        Blockade blockade = new Blockade(client.channel);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 100_000), false);
            request.stream.data(Buffers.of(new byte[100_000]), true);
            request.stream.flush();
        };
        client.send(GET + "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n" + "x".repeat(80_000));
        assertEquals(1, client.requests.size());
        assertFalse(client.channel.config().isAutoRead());
        blockade.lift();
        assertEquals(2, client.requests.size());
        assertEquals(80_000, client.last().body.length());
        assertTrue(client.channel.config().isAutoRead());
    }

    @Test
    void whatAClientSendsThatTakesNoLastResponseIsNotKept() {
        new Blockade(client.channel);
        client.send("GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        long waiting = client.memory.held();
        client.send("x".repeat(10_000));
        client.send(GET);
        assertEquals(waiting, client.memory.held());
        assertEquals(1, client.requests.size());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void pipelinedRequestsThatAreAnsweredTogetherAreSentTogether() {
        client.answer = request -> {};
        client.send(GET + GET + GET);
        client.answer = Downstream::echo;
        Downstream.echo(client.last());
        assertEquals(3, client.requests.size());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".repeat(3), client.sent());
        assertEquals(1, client.flushes);
    }

    // ---- framing

    /** A length that is right stays where it stands, any other gives way to the right one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "5 | 5 | A: b;Content-Length: 5;C: d",
                "0 | 0 | A: b;Content-Length: 0;C: d",
                "5 | 7 | A: b;C: d;Content-Length: 5",
                "0 | 7 | A: b;C: d;Content-Length: 0",
                "5 | 005 | A: b;C: d;Content-Length: 5",
                "5 | x | A: b;C: d;Content-Length: 5",
                "-1 | 5 | A: b;C: d;Transfer-Encoding: chunked",
                "-1 | x | A: b;C: d;Transfer-Encoding: chunked",
            })
    void aHeadHasOneLength(long length, String said, String lines) {
        Fields fields = new Fields();
        fields.add(FieldName.of("A"), "b");
        fields.add(FieldName.CONTENT_LENGTH, said);
        fields.add(FieldName.of("C"), "d");
        client.answer = request -> request.stream.head(new ResponseHead(200, null, fields, length), false);
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\n" + lines.replace(";", "\r\n") + "\r\n\r\n", client.sent());
    }

    @Test
    void aLengthThatIsSaidTwiceIsSentOnce() {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_LENGTH, "5");
        fields.add(FieldName.CONTENT_LENGTH, "5");
        client.answer = request -> request.stream.head(new ResponseHead(200, null, fields, 5), false);
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", client.sent());
    }

    /** Chunks would be taken for the body. */
    @ParameterizedTest
    @CsvSource({"1.0, false", "1.1, true"})
    void aRefusalIsFramedAsItsClientUnderstands(String version, boolean chunks) {
        client.answerRefused = request -> {
            request.stream.head(new ResponseHead(400, null, new Fields(), -1), false);
            request.stream.data(Buffers.of("no"), true);
            request.stream.flush();
        };
        client.send("GET / HTTP/" + version + "\r\nHost: a.test\r\nContent-Length: 1x\r\n\r\n");
        String body = chunks
                ? "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nno\r\n0\r\n\r\n"
                : "Connection: close\r\n\r\nno";
        assertEquals("HTTP/1.1 400 Bad Request\r\n" + body, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 10, 99, 100, 1234567890, Long.MAX_VALUE})
    void lengthsAreWrittenInFull(long length) {
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), length), false);
            request.stream.data(Buffers.of(""), true);
            request.stream.flush();
        };
        client.send("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n", client.sent());
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "9, 9", "10, a", "15, f", "16, 10", "255, ff", "256, 100", "4096, 1000", "1048576, 100000"})
    void chunkSizesAreHexadecimal(int length, String size) {
        begin(-1);
        client.last().stream.flush();
        client.sent();
        data(length, true);
        client.last().stream.flush();
        assertEquals(size + "\r\n" + "\0".repeat(length) + "\r\n0\r\n\r\n", client.sent());
    }

    @Test
    void whatIsFlushedEndsItsChunk() {
        begin(-1);
        data(1, false);
        client.last().stream.flush();
        assertTrue(client.sent().endsWith("\r\n\r\n1\r\n\0\r\n"));
        data(1, false);
        data(1, false);
        assertEquals("", client.sent());
        client.last().stream.flush();
        assertEquals("1\r\n\0\r\n1\r\n\0\r\n", client.sent());
        client.last().stream.trailers(trailers());
        client.last().stream.flush();
        assertEquals("0\r\nX-Sum: 7\r\n\r\n", client.sent());
    }

    private static Fields trailers() {
        Fields trailers = new Fields();
        trailers.add(FieldName.of("X-Sum"), "7");
        return trailers;
    }

    @Test
    void trailersOfABodyWithALengthAreLeftOut() {
        begin(2);
        data(2, false);
        client.last().stream.trailers(trailers());
        client.last().stream.flush();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\0\0", client.sent());
        assertTrue(client.channel.isOpen());
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
    }

    @Test
    void trailersBeforeTheEndOfABodyWithALengthCutItOff() {
        begin(2);
        data(1, false);
        client.last().stream.flush();
        client.last().stream.trailers(trailers());
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, reset().cause());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\0", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void nothingIsSentBeforeItsHeadOrBehindItsEnd() {
        client.answer = request -> {};
        client.send(GET);
        data(3, false);
        client.last().stream.trailers(trailers());
        client.last().stream.flush();
        assertEquals("", client.sent());
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 1), false);
        client.last().stream.head(new ResponseHead(500, null, new Fields(), 0), true);
        data(1, true);
        data(1, true);
        client.last().stream.trailers(trailers());
        client.last().stream.head(new ResponseHead(500, null, new Fields(), 0), true);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\0", client.sent());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void whatAnEndedResponseIsOwedIsNoneOfTheNext() {
        client.consuming = false;
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 300000\r\n\r\n" + "x".repeat(300_000));
        Downstream.Received first = client.last();
        assertTrue(client.channel.config().isAutoRead()); // answered, and forgotten
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 400000\r\n\r\n" + "x".repeat(300_000));
        assertFalse(client.channel.config().isAutoRead());
        first.stream.consumed(300_000);
        assertFalse(client.channel.config().isAutoRead());
        client.last().stream.consumed(300_000);
        assertTrue(client.channel.config().isAutoRead());
    }

    @Test
    void aStatusHasTheReasonOfWhoeverGaveItAndElseTheUsualOne() {
        assertEquals("HTTP/1.1 404 Not Found\r\n", line(404, null));
        assertEquals("HTTP/1.1 404 Not Found\r\n", line(404, "Not Found"));
        assertEquals("HTTP/1.1 404 Not Gound\r\n", line(404, "Not Gound"));
        assertEquals("HTTP/1.1 404 Not Foun\r\n", line(404, "Not Foun"));
        assertEquals("HTTP/1.1 404 Nothing here\r\n", line(404, "Nothing here"));
        assertEquals("HTTP/1.1 299 \r\n", line(299, null));
        assertEquals("HTTP/1.1 299 Odd\r\n", line(299, "Odd"));
    }

    private String line(int status, @Nullable String reason) {
        client.answer = request -> request.stream.head(
                new ResponseHead(status, reason == null ? null : new AsciiString(reason), new Fields(), 0), true);
        client.send(GET);
        String sent = client.sent();
        return sent.substring(0, sent.indexOf('\n') + 1);
    }
}
