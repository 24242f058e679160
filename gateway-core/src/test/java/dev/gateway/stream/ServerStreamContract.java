package dev.gateway.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ContractClient.Ability;
import dev.gateway.stream.ContractCore.Told;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link ServerStream} owes the core, whatever its protocol. Each adapter has a subclass, which brings a client
 * that speaks the protocol.
 */
public abstract class ServerStreamContract {
    private static final Failure UPSTREAM_GONE = Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "made by the test");
    private static final int PIECE = 16 * 1024;
    private static final int FAR_TOO_MUCH = 16 << 20;

    private final ContractCore core = new ContractCore();
    private final ContractClient client;

    /** Makes a test of a connection of its own. */
    protected ServerStreamContract(Connecting connecting) {
        client = connecting.connect(core);
    }

    /** Makes the client of a new connection. */
    @FunctionalInterface
    protected interface Connecting {
        /** Returns a client whose connection hands its requests to this handler. */
        ContractClient connect(ContractCore core);
    }

    @AfterEach
    void closeConnection() {
        client.takeAll();
        client.close();
    }

    private Told open() {
        client.open();
        return core.last();
    }

    private Told tunnel() {
        client.openTunnel();
        answer(core.last());
        return core.last();
    }

    private void answer(Told told) {
        head(told, 200, false);
        told.stream.flush();
        client.settle();
    }

    private static void head(Told told, int status, boolean last) {
        told.stream.head(new ResponseHead(status, null, new Fields(), RequestHead.UNKNOWN_LENGTH), last);
    }

    private ByteBuf data(Told told, String text, boolean last) {
        ByteBuf data = Buffers.of(text);
        told.stream.data(data, last);
        told.stream.flush();
        client.settle();
        return data;
    }

    /** Sends until the client's intake is full, and returns the pieces. */
    private ByteBuf fill(Told told) {
        client.stall();
        ByteBuf last = Unpooled.EMPTY_BUFFER;
        int sent = 0;
        while (told.stream.isWritable()) {
            assertTrue(sent < FAR_TOO_MUCH, "nothing ever says that the client does not keep up");
            last = data(told, "x".repeat(PIECE), false);
            sent += PIECE;
        }
        return last;
    }

    /** Whether the connection takes another request and its answer. */
    private boolean takesAnotherRequest() {
        int before = core.requests();
        client.open();
        if (core.requests() == before) {
            return false;
        }
        answer(core.last());
        assertEquals(0, data(core.last(), "another", true).refCnt());
        client.end();
        return client.body().equals("another") && client.isComplete();
    }

    @Test
    void aBodyIsToldInOrderAndItsEndOnceAndLast() {
        Told told = open();
        client.send("ab");
        client.send("cd");
        assertEquals(List.of("request", "data"), told.events);
        client.end();
        assertEquals(List.of("request", "data", "end"), told.events);
        assertEquals("abcd", told.body.toString());
    }

    @Test
    void whatWasReadIsFollowedByReadComplete() {
        Told told = open();
        int before = told.readCompletes;
        client.send("ab");
        assertEquals(before + 1, told.readCompletes);
    }

    @Test
    void aReceivedBufferBelongsToTheCoreAlsoWhenTheStreamHasFailed() {
        core.keeping = true;
        Told told = open();
        client.send("kept");
        client.reset();
        assertEquals("reset", told.events.get(told.events.size() - 1));
        client.close();
        StringBuilder kept = new StringBuilder();
        for (ByteBuf data : told.kept) {
            assertEquals(1, data.refCnt());
            kept.append(data.toString(StandardCharsets.ISO_8859_1));
            assertTrue(data.release());
        }
        assertEquals("kept", kept.toString());
    }

    @Test
    void aSentBufferBelongsToTheStreamWhetherItIsSentOrNot() {
        Told told = open();
        answer(told);
        assertEquals(0, data(told, "sent", false).refCnt());
        assertEquals(0, data(told, "last", true).refCnt());
        assertEquals(0, data(told, "after the end", false).refCnt());
        assertEquals("sentlast", client.body());

        client.end();
        assertEquals(0, data(told, "after both ends", true).refCnt());
        assertEquals("sentlast", client.body());
    }

    @Test
    void whatWaitsForTheClientIsReleasedWhenTheClientIsGone() {
        Told told = open();
        answer(told);
        ByteBuf waiting = fill(told);
        assertTrue(waiting.refCnt() > 0, "nothing waits");
        client.reset();
        assertEquals(List.of("request", "reset"), told.events);
        client.takeAll(); // what had gone to the socket already
        assertEquals(0, waiting.refCnt());
        assertEquals(0, data(told, "too late", true).refCnt());
    }

    @Test
    void aClientThatTakesNothingIsNotWritableUntilItDoes() {
        Told told = open();
        answer(told);
        ByteBuf waiting = fill(told);
        assertFalse(told.events.contains("writable"));
        client.takeAll();
        assertTrue(told.events.contains("writable"), "nothing says that the client takes bytes again");
        assertTrue(told.writableWhenTold);
        assertEquals(0, waiting.refCnt());
        assertEquals(0, data(told, "!", true).refCnt());
        assertTrue(client.body().endsWith("x!"));
        assertTrue(client.isComplete());
    }

    @Test
    void aClientWhoseBytesAreNotConsumedIsReadNoFurther() {
        core.keeping = true;
        Told told = open();
        answer(told);
        for (int round = 0; round < 4; round++) { // the first credit may be more than what was consumed
            assertTrue(client.maySend(PIECE), "credit is not given back");
            int before = told.length;
            int sent = 0;
            while (client.maySend(PIECE)) {
                assertTrue(sent < FAR_TOO_MUCH, "it is read without an end");
                client.send("x".repeat(PIECE));
                sent += PIECE;
            }
            assertEquals(sent, told.length - before);
            told.kept.forEach(data -> assertTrue(data.release()));
            told.kept.clear();
            assertFalse(client.maySend(PIECE), "credit is given by consumed, not by releasing");
            told.stream.consumed(sent);
            client.settle();
        }
        assertTrue(client.maySend(PIECE));
    }

    @Test
    void theClientsEndLeavesTheOtherDirectionOpen() {
        Told told = open();
        answer(told);
        client.end();
        assertEquals(0, data(told, "still ", false).refCnt());
        assertEquals("still ", client.body());
        assertFalse(client.isComplete());
        assertEquals(0, data(told, "open", true).refCnt());
        assertEquals("still open", client.body());
        assertTrue(client.isComplete());
        assertEquals(List.of("request", "end"), told.events);
    }

    @Test
    void ourEndOfATunnelLeavesTheOtherDirectionOpen() {
        Told told = tunnel();
        assertEquals(0, data(told, "down", true).refCnt());
        assertEquals("down", client.body());
        assertTrue(client.isComplete());
        client.send("up");
        assertEquals(List.of("request", "data"), told.events);
        client.end();
        assertEquals(List.of("request", "data", "end"), told.events);
        assertEquals("up", told.body.toString());
    }

    /** A protocol without messages has a tunnel only, which ends when both directions have. */
    @Test
    void afterAnEarlyResponseTheRestOfTheRequestIsTheAdapters() {
        Told told = open();
        client.send("begun");
        answer(told);
        assertEquals(0, data(told, "early", true).refCnt());
        int readCompletes = told.readCompletes;
        client.send("rest");
        client.end();
        assertEquals("early", client.body());
        assertTrue(client.isComplete());
        if (client.has(Ability.MESSAGES)) {
            assertEquals(List.of("request", "data"), told.events);
            assertEquals("begun", told.body.toString());
            assertEquals(readCompletes, told.readCompletes);
            assertTrue(takesAnotherRequest());
        } else {
            assertEquals(List.of("request", "data", "end"), told.events);
            assertEquals("begunrest", told.body.toString());
        }
    }

    /** A protocol without messages has no words for a refusal, and cuts the client off. */
    @Test
    void aRequestMayBeRefusedBeforeTheHandlerReturns() {
        core.onRequest = told -> {
            head(told, 503, true);
            told.stream.flush();
        };
        Told told = open();
        client.settle();
        client.send("rest");
        client.end();
        assertEquals(List.of("request"), told.events);
        if (client.has(Ability.MESSAGES)) {
            assertEquals(List.of(503), client.statuses());
            assertTrue(client.isComplete());
        } else {
            assertTrue(client.isCutShort());
        }
    }

    @Test
    void interimHeadsGoBeforeTheFinalOneWhereThereAreHeads() {
        Told told = open();
        head(told, 103, false);
        told.stream.flush();
        client.settle();
        List<Integer> interim = client.has(Ability.MESSAGES) ? List.of(103) : List.of();
        assertEquals(interim, client.statuses());
        answer(told);
        assertEquals(0, data(told, "body", true).refCnt());
        assertEquals(client.has(Ability.MESSAGES) ? List.of(103, 200) : List.of(), client.statuses());
        assertEquals("body", client.body());
    }

    @Test
    void trailersEndTheMessageAlsoWhereTheyAreDropped() {
        Told told = open();
        answer(told);
        assertEquals(0, data(told, "body", false).refCnt());
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        told.stream.trailers(trailers);
        told.stream.flush();
        client.settle();
        assertEquals("body", client.body());
        assertTrue(client.isComplete());
        assertEquals(0, data(told, "after the end", false).refCnt());
        assertEquals("body", client.body());
    }

    @Test
    void theClientsResetIsToldOnceAndLast() {
        core.keeping = true;
        ByteBuf late = Buffers.of("of no use");
        core.onReset = told -> {
            told.stream.data(late, false);
            told.stream.trailers(new Fields());
            told.stream.flush();
            told.stream.consumed(told.length);
            told.stream.reset(UPSTREAM_GONE);
        };
        Told told = open();
        answer(told);
        client.send("ab");
        client.reset();
        client.settle();
        assertEquals(List.of("request", "data", "reset"), told.events);
        assertEquals(Cause.CLIENT_CLOSED, told.failures.get(0).cause());
        assertEquals(0, late.refCnt());
        assertTrue(told.kept.remove(0).release());
        core.keeping = false;
        if (client.has(Ability.STREAMS)) {
            assertTrue(takesAnotherRequest());
        }
    }

    @Test
    void ourResetEndsBothDirectionsAndIsNotTold() {
        Told told = open();
        answer(told);
        assertEquals(0, data(told, "begun", false).refCnt());
        told.stream.reset(UPSTREAM_GONE);
        client.settle();
        assertTrue(client.isCutShort());
        assertFalse(client.isComplete());
        client.send("nobody is told");
        assertEquals(List.of("request"), told.events);
        assertEquals(0, data(told, "nobody gets it", true).refCnt());
        told.stream.consumed(1);
        told.stream.reset(UPSTREAM_GONE);
        client.settle();
        assertEquals("begun", client.body());
        assertEquals(List.of("request"), told.events);
        assertEquals(client.has(Ability.STREAMS), takesAnotherRequest());
    }

    @Test
    void aRequestMayBeResetBeforeTheHandlerReturns() {
        core.onRequest = told -> told.stream.reset(UPSTREAM_GONE);
        Told told = open();
        client.settle();
        assertTrue(client.isCutShort());
        client.send("nobody is told");
        assertEquals(List.of("request"), told.events);
        core.onRequest = ignored -> {};
        assertEquals(client.has(Ability.STREAMS), takesAnotherRequest());
    }

    @Test
    void callsAfterBothEndsDoNothing() {
        core.keeping = true;
        Told told = open();
        client.send("ab");
        client.end();
        for (ByteBuf data : told.kept) {
            data.release();
        }
        core.keeping = false;
        answer(told);
        assertEquals(0, data(told, "whole", true).refCnt());
        told.stream.consumed(2);
        told.stream.trailers(new Fields());
        told.stream.reset(UPSTREAM_GONE);
        told.stream.flush();
        client.settle();
        assertEquals("whole", client.body());
        assertTrue(client.isComplete());
        assertEquals(List.of("request", "data", "end"), told.events);
        assertEquals(client.has(Ability.MESSAGES), takesAnotherRequest());
    }

    /** Bytes without messages have no rules to break. A malformed stream is reset, so that the answer is dropped. */
    @Test
    void aRequestThatBreaksOffByItsClientsErrorMayBeAnsweredWhileItIsTold() {
        if (!client.has(Ability.MESSAGES)) {
            Told told = open();
            client.send("\0anything");
            assertEquals(List.of("request", "data"), told.events);
            return;
        }
        core.onReset = told -> {
            head(told, told.failures.get(0).status(), true);
            told.stream.flush();
        };
        Told told = open();
        client.breakRules();
        client.settle();
        assertEquals(List.of("request", "reset"), told.events);
        assertEquals(Cause.CLIENT_PROTOCOL_ERROR, told.failures.get(0).cause());
        if (client.has(Ability.STREAMS)) {
            assertEquals(List.of(), client.statuses());
            assertTrue(client.isCutShort());
            assertTrue(takesAnotherRequest());
        } else {
            assertEquals(List.of(400), client.statuses());
            assertTrue(client.isComplete());
        }
    }

    /** What a client of streams has sent before it could know is still taken. */
    @Test
    void drainingIsToldAndWhatRunsMayFinish() {
        Told told = open();
        answer(told);
        client.drain();
        client.settle();
        assertEquals(List.of("request", "draining"), told.events);
        client.send("ab");
        client.end();
        assertEquals(0, data(told, "finished", true).refCnt());
        assertEquals(List.of("request", "draining", "data", "end"), told.events);
        assertEquals("finished", client.body());
        assertTrue(client.isComplete());
        assertEquals(client.has(Ability.STREAMS), takesAnotherRequest());
    }
}
