package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a connection lets happen before it ends: less with every announcement, and never more again. */
class CloseAnnouncementTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final TestClock clock = new TestClock(channel);
    private int becameOld;
    private final CloseAnnouncement announcement = new CloseAnnouncement(() -> becameOld++, clock.timers());

    @AfterEach
    void nothingIsLeft() {
        clock.assertNothingArmed();
        channel.finishAndReleaseAll();
    }

    @Test
    void persistsUntilSomethingIsAnnounced() {
        announcement.begin(0);
        clock.advance(1_000_000);
        assertTrue(announcement.mayPersist());
        assertFalse(announcement.isOld());
        assertFalse(announcement.isLastRequest());
        assertEquals(0, becameOld);
    }

    @Test
    void takesAnotherRequestAfterTheAnnouncement() {
        announcement.closeAfterResponse();
        assertFalse(announcement.mayPersist());
        assertFalse(announcement.isLastRequest());
    }

    @Test
    void isOldAtItsAge() {
        announcement.begin(1_000);
        clock.advance(1_100);
        announcement.closeAfterResponse();
        assertTrue(announcement.isOld());
        assertFalse(announcement.mayPersist());
        assertFalse(announcement.isLastRequest());
        assertEquals(1, becameOld);
    }

    @Test
    void takesNoMoreOnceSomethingIsWrongHoweverOldItBecomes() {
        announcement.begin(1_000);
        announcement.takeNoMore();
        clock.advance(1_100);
        assertTrue(announcement.isLastRequest());
        assertFalse(announcement.isOld());
        assertFalse(announcement.isDraining());
        assertEquals(0, becameOld);
    }

    @Test
    void doesNotBecomeOldWhileItDrains() {
        announcement.begin(1_000);
        announcement.drain();
        clock.advance(1_100);
        assertFalse(announcement.isOld());
        assertEquals(0, becameOld);
    }

    @Test
    void drainsOnce() {
        assertTrue(announcement.drain());
        assertFalse(announcement.drain());
        announcement.takeNoMore();
        announcement.closeAfterResponse();
        assertTrue(announcement.isDraining());
        assertTrue(announcement.isLastRequest());
        assertFalse(announcement.mayPersist());
    }

    @Test
    void drainsAfterSomethingWasWrong() {
        announcement.takeNoMore();
        assertTrue(announcement.drain());
        assertTrue(announcement.isDraining());
    }
}
