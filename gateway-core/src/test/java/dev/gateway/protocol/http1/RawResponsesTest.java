package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.RawResponses.Case;
import dev.gateway.protocol.http1.RawResponses.Outcome;
import dev.gateway.protocol.http1.RawResponses.Status;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The corpus of raw responses against a client connection, sent at once and cut at every position. */
class RawResponsesTest {
    /** What is longer than this is about a limit, and only its beginning and its end are cut at every position. */
    private static final int LONG = 300;

    private static final int ENDS = 40;

    static List<Case> cases() {
        return RawResponses.read();
    }

    /** Those whose response has an end of its own, and nothing behind it. */
    static List<Case> wholeCases() {
        return RawResponses.read().stream()
                .filter(c -> c.outcome() == Outcome.KEPT)
                .toList();
    }

    @Test
    void theCorpusIsThere() {
        assertTrue(cases().size() >= 200, () -> "only " + cases().size());
        long titles = cases().stream().map(Case::title).distinct().count();
        assertEquals(cases().size(), titles, "titles are unique");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsItsVerdict(Case response) {
        Rig rig = new Rig(response);
        rig.send(0, response.bytes().length());
        rig.check();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsTheSameVerdictWhereverItIsCut(Case response) {
        int length = response.bytes().length();
        for (int cut : cuts(response.bytes())) {
            Rig rig = new Rig(response);
            rig.send(0, cut);
            rig.send(cut, length);
            rig.check();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void getsTheSameVerdictByteByByte(Case response) {
        Rig rig = new Rig(response);
        int from = 0;
        for (int cut : cuts(response.bytes())) {
            rig.send(from, cut);
            from = cut;
        }
        rig.send(from, response.bytes().length());
        rig.check();
    }

    /** Whoever takes part of a response for all of it takes a lost connection, or an attack, for an answer. */
    @ParameterizedTest
    @MethodSource("wholeCases")
    void isNeverTakenForWholeIfTheConnectionEndsBeforeIt(Case response) {
        for (int cut : cuts(response.bytes())) {
            Rig rig = new Rig(response);
            rig.send(0, cut);
            rig.checkLostAt(cut);
        }
    }

    private static int[] cuts(String bytes) {
        int length = bytes.length();
        return Cuts.of(bytes)
                .filter(i -> length <= LONG || i < ENDS || i > length - ENDS)
                .toArray();
    }

    /** One exchange with an upstream that sends a case. */
    private static final class Rig {
        private final Case response;
        private final Upstream upstream = new Upstream(Http1ClientSettings.DEFAULT);
        private final Received received = upstream.open();

        Rig(Case response) {
            this.response = response;
            boolean bodiless = response.requestEnds();
            received.stream().head(Upstream.request(response.method(), bodiless ? -1 : 5), bodiless);
            if (!bodiless) {
                received.stream().data(Buffers.of("ab"), false);
            }
            received.stream().flush();
            upstream.sent();
        }

        /** Sends a part, unless the connection is closed by now. */
        void send(int from, int to) {
            if (upstream.channel.isOpen() && to > from) {
                upstream.respond(response.bytes().substring(from, to));
            }
        }

        void check() {
            if (response.closes()) {
                upstream.channel.close();
                upstream.channel.runPendingTasks();
            }
            checkHeads();
            assertEquals(response.body(), received.body.toString());
            Fields trailers = received.trailers;
            assertEquals(
                    String.join("\n", response.trailers()),
                    trailers == null ? "" : trailers.toString().stripTrailing());
            checkViolations();
            checkEnd();
            upstream.finish();
            assertEquals(1, upstream.closed);
        }

        private void checkHeads() {
            assertEquals(
                    response.statuses().stream().map(Status::code).toList(),
                    received.heads.stream().map(ResponseHead::status).toList());
            for (int i = 0; i < received.heads.size(); i++) {
                String reason = response.statuses().get(i).reason();
                if (reason != null) {
                    assertEquals(reason, String.valueOf(received.heads.get(i).reason()));
                }
            }
            for (String field : response.fields()) {
                Fields last = received.heads.get(received.heads.size() - 1).fields();
                if (field.contains(": ")) {
                    assertTrue(last.toString().contains(field + "\n"), last::toString);
                } else {
                    assertFalse(last.contains(FieldName.of(field)), field);
                }
            }
        }

        private void checkViolations() {
            if (response.violations().isEmpty()) {
                assertEquals(List.of(), upstream.violations);
            } else {
                // Nobody looks at what comes behind the last response once it has closed the connection.
                assertTrue(response.outcome() == Outcome.LAST || !upstream.violations.isEmpty());
                assertTrue(
                        response.violations().containsAll(Set.copyOf(upstream.violations)),
                        upstream.violations::toString);
            }
        }

        private void checkEnd() {
            Failure reset = received.reset;
            Outcome outcome = response.outcome();
            assertEquals(outcome.isWhole(), received.complete, () -> "whole, not " + reset);
            assertEquals(
                    switch (outcome) {
                        case REFUSED, BROKEN -> Cause.UPSTREAM_PROTOCOL_ERROR;
                        case LOST -> Cause.UPSTREAM_RESET_BEFORE_HEADERS;
                        case CUT -> Cause.UPSTREAM_RESET_IN_BODY;
                        case KEPT, LAST, EXTRA, EARLY, WAIT -> null;
                    },
                    reset == null ? null : reset.cause());
            boolean open = upstream.channel.isOpen();
            switch (outcome) {
                case KEPT -> {
                    assertTrue(open);
                    assertEquals(1, upstream.reusable);
                    assertEquals(response.keepAliveMillis(), upstream.keepAliveMillis);
                    checkNext();
                }
                case WAIT -> {
                    assertTrue(open);
                    assertEquals(0, upstream.reusable);
                }
                case EARLY -> {
                    assertTrue(open);
                    received.stream().data(Buffers.of("cde"), true);
                    received.stream().flush();
                    assertFalse(upstream.channel.isOpen());
                    assertEquals(0, upstream.reusable);
                }
                case EXTRA -> assertFalse(open); // what comes later than the response meets an idle connection
                default -> {
                    assertFalse(open);
                    assertEquals(0, upstream.reusable);
                }
            }
        }

        /** Another request on the connection gets its own response. */
        private void checkNext() {
            Received next = upstream.get();
            upstream.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext");
            assertEquals("next", next.body.toString());
            assertTrue(next.complete);
            assertEquals(2, upstream.reusable);
        }

        void checkLostAt(int cut) {
            upstream.channel.close();
            upstream.channel.runPendingTasks();
            assertFalse(received.complete, () -> "whole after " + cut + " bytes");
            Failure reset = received.reset;
            assertNotNull(reset);
            boolean begun = received.heads.stream().anyMatch(head -> !head.isInterim());
            assertEquals(begun ? Cause.UPSTREAM_RESET_IN_BODY : Cause.UPSTREAM_RESET_BEFORE_HEADERS, reset.cause());
            assertNull(received.trailers);
            assertEquals(0, upstream.reusable);
            upstream.finish();
        }
    }
}
