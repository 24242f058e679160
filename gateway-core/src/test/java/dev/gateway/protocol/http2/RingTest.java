package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RingTest {
    private final Ring<String> ring = new Ring<>();
    private final Ring.Link<String> one = new Ring.Link<>("one");
    private final Ring.Link<String> two = new Ring.Link<>("two");
    private final Ring.Link<String> three = new Ring.Link<>("three");

    @Test
    void anEmptyRingHasNoFirst() {
        assertTrue(ring.isEmpty());
        assertNull(ring.first());
    }

    @Test
    void membersStandInTheOrderInWhichTheyCame() {
        ring.add(one);
        ring.add(two);
        assertFalse(ring.isEmpty());
        assertEquals("one", ring.first());
        assertFalse(one.isLast());
        assertTrue(two.isLast());
    }

    @Test
    void whoComesBackStandsLast() {
        ring.add(one);
        ring.add(two);
        one.leave();
        ring.add(one);
        assertEquals("two", ring.first());
        assertTrue(one.isLast());
    }

    @Test
    void whoStandsInTheMiddleLeavesTheOthersInOrder() {
        ring.add(one);
        ring.add(two);
        ring.add(three);
        two.leave();
        assertEquals("one", ring.first());
        one.leave();
        assertEquals("three", ring.first());
        three.leave();
        assertTrue(ring.isEmpty());
    }

    @Test
    void toLeaveNoRingDoesNothing() {
        one.leave();
        ring.add(one);
        one.leave();
        one.leave();
        assertTrue(ring.isEmpty());
    }
}
