package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;

/** A hand-moved clock for the timers of an embedded channel, with a loop of their own. */
final class TestClock {
    private final EmbeddedChannel channel;
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final TimerWheel timers;
    private long nanos = 1;

    TestClock(EmbeddedChannel channel) {
        this.channel = channel;
        loop.freezeTime();
        timers = new TimerWheel(loop.eventLoop(), () -> nanos);
    }

    TimerWheel timers() {
        return timers;
    }

    long nanos() {
        return nanos;
    }

    void advance(long millis) {
        for (long passed = 0; passed < millis; passed += TimerWheel.TICK_MILLIS) {
            nanos += TimeUnit.MILLISECONDS.toNanos(TimerWheel.TICK_MILLIS);
            loop.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
            channel.runPendingTasks();
        }
    }

    /** Asserts that no timer is armed any more. */
    void assertNothingArmed() {
        advance(2 * TimerWheel.TICK_MILLIS);
        assertEquals(-1, loop.runScheduledPendingTasks(), "a timer is left");
    }
}
