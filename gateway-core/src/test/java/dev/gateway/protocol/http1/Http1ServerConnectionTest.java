package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.transport.TestIdleTasks;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class Http1ServerConnectionTest {
    private static final String GET = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    private Downstream client = new Downstream();

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    @Test
    void answersARequestAndKeepsTheConnection() {
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
        assertTrue(client.channel.isOpen());
        assertEquals(2, client.requests.size());
    }

    @Test
    void answersAPipelinedBatchInOrderWithOneFlush() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n1"
                + "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n2" + GET);
        assertEquals(
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"
                        + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                client.sent());
        assertEquals(1, client.flushes);
    }

    @Test
    void shortResponsesAreOneBufferAndLongBodiesAreNotCopied() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n1" + GET);
        assertEquals(1, client.channel.outboundMessages().size());
        client.sent();

        ByteBuf body = Buffers.of(new byte[2000]);
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 2000), false);
            request.stream.data(body, true);
        };
        client.send(GET);
        assertEquals(2, client.channel.outboundMessages().size());
        assertTrue(client.channel.outboundMessages().contains(body));
    }

    @Test
    void leavesAPipelinedRequestAloneUntilTheResponseHasEnded() {
        client.answer = request -> {};
        client.send(GET + GET);
        assertEquals(1, client.requests.size());
        Downstream.echo(client.last());
        assertEquals(2, client.requests.size());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
    }

    @Test
    void responsesBeforeTheLastPipelinedOneWaitForALull() {
        try (TestIdleTasks lull = new TestIdleTasks()) {
            Downstream pipelining = new Downstream();
            pipelining.answer = request -> {};
            pipelining.send(GET + GET + GET);
            Downstream.echo(pipelining.last());
            Downstream.echo(pipelining.last());
            lull.doesNotCome();
            assertEquals("", pipelining.sent());
            lull.comes();
            assertEquals(OK + OK, pipelining.sent());
            assertEquals(1, pipelining.flushes);

            Downstream.echo(pipelining.last());
            assertEquals(OK, pipelining.sent());
            lull.comes();
            assertEquals(2, pipelining.flushes);
            pipelining.finish();
        }
    }

    @Test
    void whatBelongsToTheRequestThatIsBeingAnsweredWaitsForNoLull() {
        try (TestIdleTasks lull = new TestIdleTasks()) {
            Downstream pipelining = new Downstream();
            pipelining.answer = request -> {};
            pipelining.send(GET + GET);
            Downstream.echo(pipelining.last());
            pipelining.last().stream.head(new ResponseHead(103, null, new Fields(), -1), false);
            pipelining.last().stream.flush();
            assertEquals(OK + "HTTP/1.1 103 Early Hints\r\n\r\n", pipelining.sent());
            lull.comes();
            assertEquals(1, pipelining.flushes);
            pipelining.finish();
        }
    }

    @Test
    void responsesThatWaitForALullOutliveARequestThatFails() {
        for (boolean begun : new boolean[] {false, true}) {
            try (TestIdleTasks lull = new TestIdleTasks()) {
                Downstream pipelining = new Downstream();
                pipelining.answer = request -> {};
                pipelining.send(GET + GET);
                Downstream.echo(pipelining.last());
                if (begun) {
                    pipelining.last().stream.head(new ResponseHead(200, null, new Fields(), 10), false);
                }
                pipelining.last().stream.reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "made by the test"));
                assertTrue(pipelining.sent().startsWith(OK));
                assertFalse(pipelining.channel.isOpen());
                lull.comes();
                pipelining.finish();
            }
        }
    }

    @Test
    void noLullComesForAConnectionThatHasBecomeSomethingElse() {
        try (TestIdleTasks lull = new TestIdleTasks()) {
            Downstream pipelining = new Downstream();
            pipelining.answer = request -> {};
            pipelining.send(GET + GET);
            Downstream.echo(pipelining.last());
            pipelining.channel.pipeline().remove(pipelining.connection);
            lull.comes();
            assertEquals(0, pipelining.flushes);
            pipelining.channel.flush(); // else what was not sent would fail, and nobody is left to hear of it
            pipelining.finish();
        }
    }

    @Test
    void stopsReadingWhenAClientPipelinesTooMuch() {
        client.answer = request -> {};
        client.send(GET);
        for (int i = 0; i < 3000; i++) {
            client.send(GET);
        }
        assertFalse(client.channel.config().isAutoRead());
        client.answer = Downstream::echo;
        Downstream.echo(client.last());
        assertTrue(client.channel.config().isAutoRead());
        assertEquals(3001, client.requests.size());
    }

    @Test
    void passesAChunkedBodyAndItsTrailersOn() {
        client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n2;x=\"y\"\r\nde\r\n0\r\nX-T: 1\r\nContent-Length: 9\r\n\r\n");
        assertEquals("abcde", client.last().body.toString());
        Fields trailers = client.last().trailers;
        assertNotNull(trailers);
        assertEquals("X-T: 1\n", trailers.toString());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", client.sent());
    }

    @Test
    void sendsABodyOfUnknownLengthInChunksWithTrailers() {
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), -1), false);
            request.stream.data(Buffers.of(new byte[26]), false);
            request.stream.data(Buffers.of(new byte[] {'x'}), false);
            Fields trailers = new Fields();
            trailers.add(FieldName.of("X-Sum"), "7");
            request.stream.trailers(trailers);
        };
        client.send(GET);
        assertEquals(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n" + "\0".repeat(26)
                        + "\r\n1\r\nx\r\n0\r\nX-Sum: 7\r\n\r\n",
                client.sent());
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), -1), false);
            request.stream.data(Unpooled.EMPTY_BUFFER, true);
        };
        client.send(GET);
        assertEquals("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", client.sent());
    }

    @Test
    void delimitsAnUnknownLengthByClosingForHttp10() {
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), -1), false);
            request.stream.data(Buffers.of(new byte[] {'x'}), true);
        };
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assertEquals("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void keepsAnHttp10ConnectionIfAsked() {
        client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", client.sent());
        client.send("GET / HTTP/1.0\r\n\r\n");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void sendsNoBodyInAnswerToHead() {
        client.answer = request -> {
            request.stream.head(new ResponseHead(200, null, new Fields(), 5), false);
            request.stream.data(Buffers.of(new byte[5]), true);
        };
        client.send("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", client.sent());
        assertTrue(client.channel.isOpen());
    }

    @Test
    void answersAClientThatSendsFinAfterItsRequestIfItMay() {
        client.finish();
        client = new Downstream(Downstream.HALF_CLOSE);
        client.answer = request -> {};
        client.send(GET);
        client.fin();
        assertNull(client.last().reset);
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void answersEveryRequestPipelinedBeforeAFin() {
        client.finish();
        client = new Downstream(Downstream.HALF_CLOSE);
        client.answer = request -> {};
        client.send(GET + GET);
        client.fin();
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", client.sent());
        Downstream.echo(client.last());
        assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertFalse(client.channel.isOpen());
    }

    @Test
    void tellsTheCoreWhenAClientGoesAway() {
        client.answer = request -> {};
        client.send(GET);
        client.channel.close();
        Failure reset = client.last().reset;
        assertNotNull(reset);
        assertEquals(Cause.CLIENT_CLOSED, reset.cause());
    }

    @Test
    void refusesABadRequestAndCloses() {
        client.send("GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: +3\r\n\r\nabc" + GET);
        assertEquals("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", client.sent());
        assertEquals(1, client.requests.size());
        assertEquals("[bad_content_length]", client.violations.toString());
    }

    private void refuseWithRest(long millis) {
        client.onEveryRequest = request -> request.stream.delayNextRequest(closing -> millis);
        client.answer = request -> {
            request.stream.head(new ResponseHead(503, null, new Fields(), 0), true);
            request.stream.flush();
        };
    }

    @Test
    void aRefusedClientHasItsAnswerAtOnceAndItsNextRequestWaits() {
        refuseWithRest(100);
        client.send(GET);
        assertTrue(client.sent().startsWith("HTTP/1.1 503 "));
        assertFalse(client.channel.config().isAutoRead());
        client.send(GET); // that was read already
        assertEquals(1, client.requests.size());
        client.clock.advance(150);
        assertTrue(client.sent().startsWith("HTTP/1.1 503 "));
        assertEquals(2, client.requests.size());
        client.clock.advance(150);
        assertTrue(client.channel.config().isAutoRead());
        client.onEveryRequest = request -> {};
        client.answer = Downstream::echo;
        client.send(GET);
        assertEquals(OK, client.sent());
        assertTrue(client.channel.config().isAutoRead());
    }

    @Test
    void aRefusalThatEndsTheConnectionWaitsItself() {
        refuseWithRest(100);
        client.send("GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        assertEquals("", client.sent());
        client.clock.advance(150);
        assertTrue(client.sent().startsWith("HTTP/1.1 503 "));
        assertFalse(client.channel.isOpen());
    }

    @Test
    void aClientThatMayGoOnIsNotKeptWaiting() {
        refuseWithRest(0);
        client.send(
                "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\nGET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        assertEquals(2, client.sent().split("HTTP/1.1 503 ", -1).length - 1);
        assertFalse(client.channel.isOpen());
    }

    @Test
    void whatAClientSendsAheadWhileItRestsIsReadOnAfterwards() {
        refuseWithRest(100);
        client.send(GET);
        client.onEveryRequest = request -> {};
        client.answer = Downstream::echo;
        client.send("POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n" + "x".repeat(80_000));
        client.clock.advance(150);
        assertEquals(2, client.requests.size());
        assertTrue(client.channel.config().isAutoRead());
    }

    @Test
    void aConnectionThatClosesWhileItsClientRestsLeavesNothingBehind() {
        refuseWithRest(100);
        client.send(GET + GET);
        client.channel.close();
        client.clock.advance(150);
        assertEquals(1, client.requests.size());
    }

    @Test
    void aConnectionThatDrainsDoesSoThoughItsClientRests() {
        refuseWithRest(100);
        client.send(GET + GET);
        client.connection.drain();
        client.clock.advance(300); // for each of the two
        assertEquals(2, client.sent().split("HTTP/1.1 503 ", -1).length - 1);
        assertFalse(client.channel.isOpen());
    }
}
