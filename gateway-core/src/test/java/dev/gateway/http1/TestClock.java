package dev.gateway.http1;

import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;

/** A hand-moved clock for the timers of an embedded channel. */
final class TestClock {
    private final EmbeddedChannel channel;
    private final TimerWheel timers;
    private long nanos;

    TestClock(EmbeddedChannel channel) {
        this.channel = channel;
        channel.freezeTime();
        timers = new TimerWheel(channel.eventLoop(), () -> nanos);
    }

    TimerWheel timers() {
        return timers;
    }

    void advance(long millis) {
        for (long passed = 0; passed < millis; passed += TimerWheel.TICK_MILLIS) {
            nanos += TimeUnit.MILLISECONDS.toNanos(TimerWheel.TICK_MILLIS);
            channel.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
    }
}
