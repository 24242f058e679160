package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.net.Drainable;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client is told when its connection goes away, in time that only the test moves on. */
class GoingAwayTest {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final FakeOwner owner = new FakeOwner();
    private final GoingAway goingAway;

    GoingAwayTest() {
        loop.freezeTime();
        goingAway = new GoingAway(owner, Pair.wheel(loop));
    }

    @AfterEach
    void close() {
        goingAway.cancel();
        loop.finishAndReleaseAll();
    }

    private static final class FakeOwner implements GoingAway.Owner {
        final List<String> said = new ArrayList<>();
        boolean open = true;
        int lastStream;
        boolean streams;

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public int lastStream() {
            return lastStream;
        }

        @Override
        public boolean hasStreams() {
            return streams;
        }

        @Override
        public void announce(long ping) {
            said.add("going away");
        }

        @Override
        public void endAfter(int lastStream) {
            said.add("last is " + lastStream);
        }
    }

    private void request(int stream) {
        owner.lastStream = stream;
        owner.streams = true;
        goingAway.onRequest();
    }

    private void after(long millis) {
        loop.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        loop.runScheduledPendingTasks();
    }

    @Test
    void nothingIsSaidOfAnOpenConnection() {
        request(1);
        goingAway.onPingAck(GoingAway.PING);
        assertEquals(List.of(), owner.said);
        assertFalse(goingAway.isLastStreamSaid());
    }

    @Test
    void whoHasAskedIsToldAtOnceAndTheLastStreamOnceItHasReadThat() {
        request(5);
        goingAway.announceClose();
        assertEquals(List.of("going away"), owner.said);
        request(7);
        goingAway.onPingAck(GoingAway.PING + 1);
        assertFalse(goingAway.isLastStreamSaid());
        goingAway.onPingAck(GoingAway.PING);
        assertEquals(List.of("going away", "last is 7"), owner.said);
        assertTrue(goingAway.isLastStreamSaid());
    }

    @Test
    void whoHasAskedNothingYetMayAskOnce() {
        goingAway.announceClose();
        after(60_000);
        assertEquals(List.of(), owner.said);
        request(1);
        assertEquals(List.of("going away"), owner.said);
    }

    @Test
    void aRetiringConnectionWaitsForItsFirstRequestForAWhileOnly() {
        goingAway.retire();
        after(Drainable.FIRST_REQUEST_MILLIS - 100);
        assertEquals(List.of(), owner.said);
        after(200);
        assertEquals(List.of("last is 0"), owner.said);
    }

    @Test
    void retiringAfterHavingAnnouncedItOnlyBeginsTheWait() {
        goingAway.announceClose();
        goingAway.retire();
        goingAway.retire();
        after(Drainable.FIRST_REQUEST_MILLIS + 100);
        assertEquals(List.of("last is 0"), owner.said);
    }

    @Test
    void itIsSaidOnce() {
        request(1);
        goingAway.retire();
        goingAway.announceClose();
        goingAway.retire();
        request(3);
        assertEquals(List.of("going away"), owner.said);
        goingAway.onPingAck(GoingAway.PING);
        goingAway.onPingAck(GoingAway.PING);
        goingAway.retire();
        goingAway.announceClose();
        request(5);
        goingAway.sayLastStream();
        assertEquals(List.of("going away", "last is 3"), owner.said);
    }

    @Test
    void aClientThatDoesNotAnswerIsWaitedForAsLongAsRequestsRun() {
        request(1);
        goingAway.retire();
        after(1_100);
        assertEquals(1, owner.said.size());
        owner.streams = false;
        after(1_100);
        assertEquals(List.of("going away", "last is 1"), owner.said);
    }

    @Test
    void aClientThatNeverAnswersIsWaitedForAFewRounds() {
        request(1);
        goingAway.retire();
        after(1_100);
        after(1_100);
        after(1_100);
        after(1_100);
        assertFalse(goingAway.isLastStreamSaid());
        after(1_100);
        assertTrue(goingAway.isLastStreamSaid());
    }

    @Test
    void nothingIsSaidOnAClosedConnection() {
        request(1);
        owner.open = false;
        goingAway.announceClose();
        goingAway.retire();
        goingAway.sayLastStream();
        assertEquals(List.of(), owner.said);
        assertFalse(goingAway.isLastStreamSaid());
    }
}
