package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.transport.TestIdleTasks;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client's FIN means while it waits for a response. */
final class ClientFinTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String CONNECT = "CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\n\r\n";
    private static final String CLOSING = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    private final TestIdleTasks loop = new TestIdleTasks();
    private final Downstream client = new Downstream();

    ClientFinTest() {
        client.answer = request -> {};
    }

    @AfterEach
    void finish() {
        client.finish();
        loop.close();
    }

    @Test
    void aFinInALaterTurnOfTheLoopIsAnAbort() {
        client.send(GET);
        loop.turns();
        client.fin();
        Failure reset = client.last().reset;
        assertNotNull(reset);
        assertEquals(Cause.CLIENT_CLOSED, reset.cause());
        assertEquals(499, reset.status());
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent());
    }

    @Test
    void aFinInTheTurnOfTheRequestIsNone() {
        client.send(GET);
        client.fin();
        assertNull(client.last().reset);
        Downstream.echo(client.last());
        assertEquals(CLOSING, client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aFinInTheTurnOfTheLastOfManyRequestsIsNone() {
        client.send(GET);
        loop.turns();
        client.send(GET);
        client.fin();
        Downstream.echo(client.last());
        loop.turns();
        Downstream.echo(client.last());
        assertEquals(2, client.requests.size());
        assertTrue(client.sent().endsWith(CLOSING));
    }

    @Test
    void anUploadThatTheFinCutsEndsAlsoBehindOtherRequests() {
        for (String upload :
                List.of("Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")) {
            Downstream pipelining = new Downstream();
            pipelining.answer = request -> {};
            pipelining.send(GET + "POST / HTTP/1.1\r\nHost: a.test\r\n" + upload);
            pipelining.fin();
            Downstream.echo(pipelining.last());
            assertEquals(2, pipelining.requests.size());
            Failure reset = pipelining.last().reset;
            assertNotNull(reset, upload);
            assertEquals(Cause.CLIENT_CLOSED, reset.cause());
            assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", pipelining.sent());
            assertFalse(pipelining.channel.isOpen());
            pipelining.finish();
        }
    }

    @Test
    void anUploadThatTheFinCutsMayHaveItsAnswerAlready() {
        client.onEveryRequest = request -> {
            if (!request.complete) {
                Downstream.echo(request);
            }
        };
        client.send(GET + "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\nabc");
        client.fin();
        Downstream.echo(client.last());
        String answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assertEquals(answer + answer, client.sent());
        assertNull(client.last().reset);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void anAbortEndsWhatIsPipelinedToo() {
        client.send(GET + GET);
        loop.turns();
        client.fin();
        assertNotNull(client.last().reset);
        assertEquals(1, client.requests.size());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aFinAfterBytesSentAheadIntoATunnelIsNone() {
        client.send(CONNECT + "hello");
        loop.turns();
        client.fin();
        assertNull(client.last().reset);
        assertTrue(client.channel.isOpen());
    }

    @Test
    void aFinOfAClientThatWaitsForATunnelIsAnAbort() {
        client.send(CONNECT);
        loop.turns();
        client.fin();
        assertNotNull(client.last().reset);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void anInterimResponseBeginsNone() {
        client.send(GET);
        client.last().stream.head(new ResponseHead(103, null, new Fields(), -1), false);
        client.last().stream.flush();
        loop.turns();
        client.fin();
        assertNotNull(client.last().reset);
    }

    @Test
    void aResponseThatHasBegunGoesOn() {
        client.send(GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), 2), false);
        client.last().stream.flush();
        loop.turns();
        client.fin();
        assertNull(client.last().reset);
        client.last().stream.data(Buffers.of(new byte[] {'o', 'k'}), true);
        client.last().stream.flush();
        assertTrue(client.sent().endsWith("ok"));
    }

    @Test
    void aFinBetweenRequestsClosesTheConnection() {
        client.answer = Downstream::echo;
        client.send(GET);
        loop.turns();
        client.fin();
        assertNull(client.last().reset);
        assertFalse(client.channel.isOpen());
    }

    // ---- after the response has begun

    private static final String EVENTS = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    private void begin(Downstream on, long length, String first) {
        on.answer = request -> {};
        on.send(GET);
        on.last().stream.head(new ResponseHead(200, null, new Fields(), length), false);
        write(on, first);
    }

    private static void write(Downstream on, String data) {
        on.last().stream.data(Buffers.of(data), false);
        on.last().stream.flush();
    }

    @Test
    void aResponseWithoutALengthEndsWhenItsUpstreamIsQuiet() {
        begin(client, -1, "a");
        assertEquals(EVENTS + "1\r\na\r\n", client.sent());
        client.clock.advance(5000); // silence before the FIN does not count
        loop.turns();
        client.fin();
        client.clock.advance(900);
        assertNull(client.last().reset);
        write(client, "b"); // what is given is given
        client.clock.advance(900);
        assertNull(client.last().reset);
        write(client, "c");
        assertEquals("1\r\nb\r\n1\r\nc\r\n", client.sent());
        client.clock.advance(1400);
        assertEquals(
                Cause.CLIENT_CLOSED, Objects.requireNonNull(client.last().reset).cause());
        assertFalse(client.channel.isOpen());
        assertEquals("", client.sent()); // no end that would make it look whole
    }

    @Test
    void aResponseWithoutALengthThatEndsInTimeIsWhole() {
        begin(client, -1, "a");
        loop.turns();
        client.fin();
        client.clock.advance(900);
        client.last().stream.data(Buffers.of("b"), true);
        client.last().stream.flush();
        assertEquals(EVENTS + "1\r\na\r\n1\r\nb\r\n0\r\n\r\n", client.sent());
        assertNull(client.last().reset);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aResponseWithALengthGoesOn() {
        begin(client, 3, "a");
        loop.turns();
        client.fin();
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        client.last().stream.data(Buffers.of("bc"), true);
        client.last().stream.flush();
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", client.sent());
    }

    @Test
    void aFinBeforeTheResponseEndsNoneThatIsGiven() {
        client.send(GET);
        client.fin(); // with the request
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        write(client, "a");
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        client.last().stream.data(Buffers.of("b"), true);
        assertTrue(client.sent().endsWith("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
    }

    @Test
    void aRequestThatWaitsIsAnsweredBeforeTheFinCounts() {
        client.answer = request -> {};
        client.send(GET + GET);
        client.last().stream.head(new ResponseHead(200, null, new Fields(), -1), false);
        write(client, "a");
        loop.turns();
        client.fin();
        client.clock.advance(10_000);
        assertNull(client.last().reset);
        client.last().stream.data(Buffers.of("b"), true);
        assertEquals(2, client.requests.size());
        assertNull(client.last().reset);
    }

    @Test
    void whereHalfClosingIsAllowedNothingEndsEarly() {
        Downstream allowing = new Downstream(Downstream.HALF_CLOSE);
        begin(allowing, -1, "a");
        loop.turns();
        allowing.fin();
        allowing.clock.advance(10_000);
        assertNull(allowing.last().reset);
        allowing.finish();
    }
}
