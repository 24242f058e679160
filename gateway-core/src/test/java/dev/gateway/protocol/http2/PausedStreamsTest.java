package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PausedStreamsTest {
    private final PausedStreams paused = new PausedStreams();
    private final List<String> resumed = new ArrayList<>();

    private final class Waiting implements PausedStreams.Member {
        private final String name;
        private boolean room;
        private Runnable onResume = () -> {};

        Waiting(String name, boolean room) {
            this.name = name;
            this.room = room;
            paused.add(this);
        }

        @Override
        public boolean mayResume() {
            return room;
        }

        @Override
        public void resume() {
            resumed.add(name);
            onResume.run();
        }
    }

    @Test
    void whoHasRoomIsToldInTheOrderInWhichTheyCameToWait() {
        new Waiting("a", true);
        Waiting later = new Waiting("b", false);
        new Waiting("c", true);
        paused.resume();
        assertEquals(List.of("a", "c"), resumed);
        later.room = true;
        paused.resume();
        paused.resume();
        assertEquals(List.of("a", "c", "b"), resumed);
    }

    @Test
    void whoWaitsAgainAtOnceComesAfterTheOthers() {
        Waiting first = new Waiting("a", true);
        new Waiting("b", true);
        first.onResume = () -> {
            first.room = false;
            paused.add(first);
        };
        paused.resume();
        assertEquals(List.of("a", "b"), resumed);
        first.room = true;
        first.onResume = () -> {};
        paused.resume();
        assertEquals(List.of("a", "b", "a"), resumed);
    }

    @Test
    void whatOneDoesMayMakeRoomForOneThatWasPassedOver() {
        Waiting first = new Waiting("a", false);
        Waiting second = new Waiting("b", true);
        second.onResume = () -> {
            first.room = true;
            paused.resume(); // as a flush does
        };
        paused.resume();
        assertEquals(List.of("b", "a"), resumed);
    }
}
