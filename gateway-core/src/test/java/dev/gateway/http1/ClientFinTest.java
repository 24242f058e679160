package dev.gateway.http1;

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
}
