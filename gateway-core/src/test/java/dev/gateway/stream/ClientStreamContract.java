package dev.gateway.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What holds for every {@link ClientStream}, whatever its protocol. A subclass for each adapter plays the upstream; what
 * that cannot do by its protocol, it says by an {@link Ability} that it lacks.
 */
public abstract class ClientStreamContract {
    private static final int PIECE = 16 * 1024;

    /** More than any adapter takes at a time, in either direction. */
    private static final int MUCH = 4 * 1024 * 1024;

    private static final Failure GIVEN_UP = Failure.of(Cause.CLIENT_CLOSED, "given up by the test");

    private final Told told = new Told();
    private final List<ByteBuf> handedOver = new ArrayList<>();
    private @Nullable ClientStream opened;

    /** What an upstream can do by its protocol. */
    protected enum Ability {
        /** It answers with a head of its own; else the adapter answers success as soon as it is asked. */
        ANSWER,
        /** Its end completes the exchange, whatever becomes of the request; else it ends one direction of a tunnel. */
        COMPLETE,
        /** It sends and takes trailer fields; else they are dropped. */
        TRAILERS,
        /** It refuses one request by a word of its own; else it has only the end of what it sends. */
        REFUSE
    }

    // ---- what the adapter's test does

    /** Returns what the upstream can do. */
    protected abstract Set<Ability> abilities();

    /** Opens a stream on a new connection. */
    protected abstract ClientStream open(ResponseEvents events);

    /** The upstream sends a final head that announces a body of unknown length. Only with {@link Ability#ANSWER}. */
    protected abstract void upstreamAnswers(int status);

    /** The upstream sends pieces of a body, all of which come in one read; lost if the connection is closed. */
    protected abstract void upstreamSends(String... pieces);

    /** Whether the upstream may send so many bytes more, as far as this side reads on. */
    protected abstract boolean mayUpstreamSend(int bytes);

    /** The upstream ends its message or its direction; lost if the connection is closed. */
    protected abstract void upstreamEnds();

    /** The upstream ends its message by this trailer field. Only with {@link Ability#TRAILERS}. */
    protected abstract void upstreamEndsWith(String name, String value);

    /** The upstream refuses the request before it answers, or ends what it sends if it has no word for that. */
    protected abstract void upstreamRefuses();

    /** The connection is gone. */
    protected abstract void upstreamDies();

    /** The upstream takes no bytes any more. */
    protected abstract void upstreamStalls();

    /** The upstream takes what waits, and what comes. */
    protected abstract void upstreamTakesAgain();

    /** Returns the request's body as far as the upstream has received it. */
    protected abstract String received();

    /** Whether the upstream has been told that the request ends. */
    protected abstract boolean hasReceivedEnd();

    /** Whether the upstream has received a trailer field of this name. */
    protected abstract boolean hasReceivedTrailer(String name);

    /** Whether the upstream was told by its protocol's means that the stream was reset. */
    protected abstract boolean hasReceivedReset();

    /** Ends the connection, and asserts that nothing of it is left. */
    protected abstract void tearDown();

    // ---- what the tests share

    @AfterEach
    void everyBufferIsReleased() {
        tearDown();
        for (ByteBuf buffer : handedOver) {
            assertEquals(0, buffer.refCnt(), "a buffer that the stream was given is not released");
        }
    }

    private boolean can(Ability ability) {
        return abilities().contains(ability);
    }

    /** Opens a stream without sending its head. */
    private ClientStream open() {
        ClientStream stream = open(told);
        opened = stream;
        return stream;
    }

    /** Opens a stream and sends the head of a request of unknown length. */
    private ClientStream begin() {
        ClientStream stream = open();
        stream.head(head(), false);
        stream.flush();
        return stream;
    }

    private RequestHead head() {
        return new RequestHead(
                can(Ability.ANSWER) ? Method.POST : Method.CONNECT,
                new AsciiString("http"),
                new AsciiString("a.test"),
                new AsciiString(can(Ability.ANSWER) ? "/" : ""),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
    }

    private void answer() {
        if (can(Ability.ANSWER)) {
            upstreamAnswers(200);
        }
    }

    private ByteBuf buffer(String text) {
        ByteBuf buffer = Buffers.of(text);
        handedOver.add(buffer);
        return buffer;
    }

    private static Fields trailers() {
        Fields fields = new Fields();
        fields.add(FieldName.of("x-sum"), "1");
        return fields;
    }

    /** Makes every call that a stream that is over must not mind. */
    private void callAll(ClientStream stream) {
        stream.data(buffer("late"), false);
        stream.trailers(trailers());
        stream.data(buffer("later"), true);
        stream.flush();
        stream.consumed(PIECE);
        stream.reset(GIVEN_UP);
    }

    private void assertTold(String... events) {
        assertEquals(List.of(events), told.events);
    }

    private void assertFailed(Cause cause, RetrySafety retry) {
        Failure failure = told.failure;
        assertNotNull(failure);
        assertEquals(cause, failure.cause());
        assertEquals(retry, failure.retry());
        assertFalse(failure.stale(), "the connection was new");
    }

    // ---- the request

    @Test
    void bodyBytesReachTheUpstreamInOrderAtTheNextFlush() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), false);
        stream.data(buffer("cd"), false);
        assertEquals("", received());
        stream.flush();
        assertEquals("abcd", received());
        assertFalse(hasReceivedEnd());
        stream.data(buffer("ef"), true);
        stream.flush();
        assertEquals("abcdef", received());
        assertTrue(hasReceivedEnd());
    }

    @Test
    void anEmptyLastPieceEndsTheRequest() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), false);
        stream.data(Unpooled.EMPTY_BUFFER, true);
        stream.flush();
        assertEquals("ab", received());
        assertTrue(hasReceivedEnd());
    }

    @Test
    void nothingIsSentAfterTheRequestsEnd() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), true);
        stream.data(buffer("cd"), false);
        stream.trailers(trailers());
        stream.data(buffer("ef"), true);
        stream.flush();
        assertEquals("ab", received());
        assertTrue(hasReceivedEnd());
        assertFalse(hasReceivedTrailer("x-sum"));
        assertFalse(hasReceivedReset());
    }

    @Test
    void trailersEndEitherDirection() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), false);
        stream.trailers(trailers());
        stream.flush();
        assertEquals("ab", received());
        assertTrue(hasReceivedEnd());
        assertEquals(can(Ability.TRAILERS), hasReceivedTrailer("x-sum"));
        answer();
        upstreamSends("cd");
        if (can(Ability.TRAILERS)) {
            upstreamEndsWith("x-sum", "2");
            assertTold("head 200", "data", "trailers x-sum: 2");
        } else {
            upstreamEnds();
            assertTold("head 200", "data", "end");
        }
    }

    @Test
    void anUpstreamThatTakesNothingStopsTheRequestUntilItTakesAgain() {
        ClientStream stream = begin();
        assertTrue(stream.isWritable());
        upstreamStalls();
        int sent = 0;
        while (stream.isWritable() && sent < MUCH) {
            stream.data(buffer("x".repeat(PIECE)), false);
            stream.flush();
            sent += PIECE;
        }
        assertTrue(sent < MUCH, "it takes without end what the upstream does not");
        assertEquals(0, told.writables);
        upstreamTakesAgain();
        assertTrue(told.writables > 0);
        assertTrue(stream.isWritable());
        assertEquals(sent, received().length());
    }

    // ---- the response

    @Test
    void aResponseIsOneHeadThenDataThenItsEndAndNothingMore() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), true);
        stream.flush();
        if (can(Ability.ANSWER)) {
            assertTold();
            upstreamAnswers(404);
        }
        String head = can(Ability.ANSWER) ? "head 404" : "head 200";
        assertTold(head);
        upstreamSends("cd", "ef");
        upstreamSends("gh");
        assertTold(head, "data");
        upstreamEnds();
        assertTold(head, "data", "end");
        assertEquals("cdefgh", told.body.toString());
        upstreamDies();
        callAll(stream);
        assertTold(head, "data", "end");
    }

    @Test
    void theEndOfWhatWasReadIsToldAfterIt() {
        begin();
        answer();
        assertEquals("head 200", told.beforeReadComplete);
        upstreamSends("ab");
        assertEquals("data", told.beforeReadComplete);
        upstreamEnds();
        assertEquals("end", told.beforeReadComplete);
    }

    @Test
    void aResponseThatEndsFirstLeavesTheRequest() {
        ClientStream stream = begin();
        answer();
        upstreamEnds();
        assertTold("head 200", "end");
        stream.data(buffer("ab"), false);
        stream.flush();
        assertEquals("ab", received());
        stream.data(buffer("cd"), false);
        stream.flush();
        assertEquals("abcd", received());
        assertFalse(hasReceivedEnd());
        assertFalse(hasReceivedReset());
        stream.data(Unpooled.EMPTY_BUFFER, true);
        stream.flush();
        assertTrue(hasReceivedEnd() || hasReceivedReset()); // a connection that is of no more use may be closed instead
        assertTold("head 200", "end");
    }

    @Test
    void nothingIsDeliveredBeyondTheCreditGiven() {
        told.consumes = false;
        ClientStream stream = begin();
        answer();
        int sent = 0;
        while (mayUpstreamSend(PIECE) && sent < MUCH) {
            upstreamSends("x".repeat(PIECE));
            sent += PIECE;
        }
        assertTrue(sent < MUCH, "it reads without end what nobody takes");
        assertEquals(sent, told.body.length());
        stream.consumed(1);
        stream.flush();
        assertFalse(mayUpstreamSend(PIECE));
        stream.consumed(sent - 1);
        stream.flush();
        assertTrue(mayUpstreamSend(PIECE));
        upstreamSends("y");
        upstreamEnds();
        assertEquals(sent + 1, told.body.length());
        assertTold("head 200", "data", "end");
    }

    // ---- how it ends early

    @Test
    void aResetIsToldToTheUpstreamAndToNobodyElse() {
        ClientStream stream = begin();
        answer();
        upstreamSends("ab");
        stream.data(buffer("cd"), false);
        assertFalse(hasReceivedReset());
        stream.reset(GIVEN_UP);
        assertTrue(hasReceivedReset());
        callAll(stream);
        upstreamSends("ef");
        upstreamEnds();
        assertTold("head 200", "data");
        assertEquals("ab", told.body.toString());
        assertFalse(received().contains("late"));
        assertFalse(hasReceivedEnd());
    }

    @Test
    void aResetFromWithinAnEventLeavesNoOtherToFollow() {
        ClientStream stream = begin();
        answer();
        told.onData = () -> stream.reset(GIVEN_UP);
        upstreamSends("ab", "cd");
        assertEquals("ab", told.body.toString());
        assertTold("head 200", "data");
        assertTrue(hasReceivedReset());
    }

    @Test
    void aResetAfterBothEndsDoesNothing() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), true);
        stream.flush();
        answer();
        upstreamEnds();
        callAll(stream);
        assertFalse(hasReceivedReset());
        assertEquals("ab", received());
        assertTrue(hasReceivedEnd());
        assertTold("head 200", "end");
    }

    @Test
    void aHeadAfterAResetTellsNothing() {
        ClientStream stream = open();
        stream.reset(Failure.of(Cause.CLIENT_CLOSED, "the client has gone"));
        stream.head(head(), false);
        assertTold();
    }

    @Test
    void aHeadThatWasNeverSentMayAlwaysBeSentElsewhere() {
        ClientStream stream = open();
        upstreamDies();
        stream.head(head(), false);
        callAll(stream);
        assertTold("reset");
        if (can(Ability.ANSWER)) {
            assertFailed(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS);
        } else {
            assertFailed(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER); // there is nothing but a body
        }
    }

    @Test
    void anUpstreamLostBeforeItsHeadMayHaveActedOnTheRequest() {
        ClientStream stream = begin();
        stream.data(buffer("ab"), false);
        upstreamDies();
        callAll(stream);
        if (can(Ability.ANSWER)) {
            assertTold("reset");
            assertFailed(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT);
        } else {
            assertTold("head 200", "reset"); // the adapter's own head came before
            assertFailed(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER);
        }
    }

    @Test
    void anUpstreamLostAfterItsHeadIsNotAskedAgain() {
        ClientStream stream = begin();
        answer();
        upstreamSends("ab");
        stream.data(buffer("cd"), false);
        upstreamDies();
        callAll(stream);
        assertTold("head 200", "data", "reset");
        assertFailed(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER);
    }

    @Test
    void anUpstreamThatRefusesHasProvablyNotActedOnTheRequest() {
        ClientStream stream = begin();
        upstreamRefuses();
        if (can(Ability.REFUSE)) {
            assertTold("reset");
            assertFailed(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS);
        } else if (can(Ability.ANSWER)) {
            assertTold("reset"); // without a word for it, nothing is proved
            assertFailed(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT);
        } else {
            assertTold("head 200", "end"); // of the upstream's direction only
            stream.data(buffer("ab"), false);
            stream.flush();
            assertEquals("ab", received());
        }
    }

    @Test
    void anUpstreamLostAfterItsWholeResponseIsNoFailureExceptOfATunnel() {
        ClientStream stream = begin();
        answer();
        upstreamEnds();
        upstreamDies();
        callAll(stream);
        if (can(Ability.COMPLETE)) {
            assertTold("head 200", "end");
        } else {
            assertTold("head 200", "end", "reset");
            assertFailed(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER);
        }
    }

    /** What the core is told, in order; data that follow each other are one event. */
    private final class Told implements ResponseEvents {
        final List<String> events = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        boolean consumes = true;
        int writables;
        String beforeReadComplete = "";
        Runnable onData = () -> {};

        @Nullable
        Failure failure;

        @Override
        public void onHead(ResponseHead head, boolean last) {
            events.add("head " + head.status());
            if (last) {
                events.add("end");
            }
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int length = data.readableBytes();
            if (length > 0
                    && (events.isEmpty() || !events.get(events.size() - 1).equals("data"))) {
                events.add("data");
            }
            if (last) {
                events.add("end");
            }
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            ClientStream stream = opened;
            if (consumes && stream != null) {
                stream.consumed(length);
            }
            onData.run();
        }

        @Override
        public void onTrailers(Fields trailers) {
            StringBuilder text = new StringBuilder("trailers");
            for (int i = 0; i < trailers.size(); i++) {
                text.append(' ').append(trailers.name(i)).append(": ").append(trailers.value(i));
            }
            events.add(text.toString());
        }

        @Override
        public void onWritable() {
            writables++;
        }

        @Override
        public void onReadComplete() {
            beforeReadComplete = events.isEmpty() ? "" : events.get(events.size() - 1);
        }

        @Override
        public void onReset(Failure failure) {
            this.failure = failure;
            events.add("reset");
        }
    }
}
