package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.net.Drainable;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client is told when its connection goes away, in time that only the test moves on. */
class GoingAwayTest {
    private final RawClient client = new RawClient();
    private final GoingAway goingAway = client.server.goingAway;

    @AfterEach
    void close() {
        client.close();
    }

    private List<String> said() {
        client.collect();
        return client.all(Frames.GOAWAY, 0).stream()
                .map(frame -> frame.number(0) == Integer.MAX_VALUE ? "going away" : "last is " + frame.number(0))
                .toList();
    }

    private void request(int stream) {
        client.send(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, stream, Frames.get());
    }

    private void answerAll() {
        for (Pair.Exchange request : client.recorder.requests) {
            request.server().head(Http2ConnectionsTest.response(200), true);
            request.server().flush();
        }
    }

    @Test
    void nothingIsSaidOfAnOpenConnection() {
        request(1);
        goingAway.onPingAck(GoingAway.PING);
        assertEquals(List.of(), said());
        assertFalse(goingAway.isLastStreamSaid());
    }

    @Test
    void whoHasAskedIsToldAtOnceAndTheLastStreamOnceItHasReadThat() {
        request(5);
        goingAway.announceClose();
        assertEquals(List.of("going away"), said());
        request(7);
        goingAway.onPingAck(GoingAway.PING + 1);
        assertFalse(goingAway.isLastStreamSaid());
        goingAway.onPingAck(GoingAway.PING);
        assertEquals(List.of("going away", "last is 7"), said());
        assertTrue(goingAway.isLastStreamSaid());
    }

    @Test
    void whoHasAskedNothingYetMayAskOnce() {
        goingAway.announceClose();
        client.advance(30_000);
        assertEquals(List.of(), said());
        request(1);
        assertEquals(List.of("going away"), said());
    }

    @Test
    void aRetiringConnectionWaitsForItsFirstRequestForAWhileOnly() {
        goingAway.retire();
        client.advance(Drainable.FIRST_REQUEST_MILLIS - 100);
        assertEquals(List.of(), said());
        client.advance(200);
        assertEquals(List.of("last is 0"), said());
    }

    @Test
    void retiringAfterHavingAnnouncedItOnlyBeginsTheWait() {
        goingAway.announceClose();
        goingAway.retire();
        goingAway.retire();
        client.advance(Drainable.FIRST_REQUEST_MILLIS + 100);
        assertEquals(List.of("last is 0"), said());
    }

    @Test
    void itIsSaidOnce() {
        request(1);
        goingAway.retire();
        goingAway.announceClose();
        goingAway.retire();
        request(3);
        assertEquals(List.of("going away"), said());
        goingAway.onPingAck(GoingAway.PING);
        goingAway.onPingAck(GoingAway.PING);
        goingAway.retire();
        goingAway.announceClose();
        request(5);
        goingAway.sayLastStream();
        assertEquals(List.of("going away", "last is 3"), said());
    }

    @Test
    void aClientThatDoesNotAnswerIsWaitedForAsLongAsRequestsRun() {
        request(1);
        goingAway.retire();
        client.advance(1_100);
        assertEquals(1, said().size());
        answerAll();
        client.advance(1_100);
        assertEquals(List.of("going away", "last is 1"), said());
    }

    @Test
    void aClientThatNeverAnswersIsWaitedForAFewRounds() {
        request(1);
        goingAway.retire();
        client.advance(1_100);
        client.advance(1_100);
        client.advance(1_100);
        client.advance(1_100);
        assertFalse(goingAway.isLastStreamSaid());
        client.advance(1_100);
        assertTrue(goingAway.isLastStreamSaid());
    }

    @Test
    void nothingIsSaidOnAClosedConnection() {
        request(1);
        client.channel.close();
        goingAway.announceClose();
        goingAway.retire();
        goingAway.sayLastStream();
        assertEquals(List.of(), said());
        assertFalse(goingAway.isLastStreamSaid());
    }
}
