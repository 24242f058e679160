package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.Drainable;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The clock on the wall stands still here until a test sets it; that of timers does not. */
class CertificateEndTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final AtomicLong nanos = new AtomicLong(System.nanoTime());
    private final AtomicLong wall = new AtomicLong(1_000_000_000_000L);
    private final TimerWheel timers = new TimerWheel(channel.eventLoop(), nanos::get, wall::get);
    private final List<String> told = new ArrayList<>();
    private final Drainable connection = new Drainable() {
        @Override
        public void drain() {
            told.add("drain");
        }

        @Override
        public void end(Failure failure) {
            assertThat(failure.cause()).isEqualTo(Cause.AUTHZ_DENIED);
            told.add("end");
        }
    };

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private CertificateEnd begin(long millisLeft) {
        CertificateEnd end = new CertificateEnd(connection, timers, wall.get() + millisLeft);
        end.begin();
        return end;
    }

    private void advance(long millis) {
        for (long each = 0;
                each < millis;
                each += 1_000) { // the wheel's turns are tasks of the loop, with a clock of its own
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_000));
            channel.advanceTimeBy(1_000, TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
    }

    @Test
    void aConnectionDrainsWhenTheCertificateExpiresAndEndsAWhileLater() {
        begin(-1);
        assertThat(told).isEmpty();
        advance(1_000);
        assertThat(told).containsExactly("drain");
        advance(25_000);
        assertThat(told).containsExactly("drain");
        advance(10_000);
        assertThat(told).containsExactly("drain", "end");
    }

    @Test
    void nothingHappensBeforeByTheClockOnTheWall() {
        begin(TimeUnit.DAYS.toMillis(1));
        advance(TimeUnit.HOURS.toMillis(3));
        assertThat(told).isEmpty();
    }

    @Test
    void aClockThatIsSetForwardIsNoticedWithinAnHour() {
        begin(TimeUnit.DAYS.toMillis(1));
        advance(TimeUnit.MINUTES.toMillis(30));
        wall.addAndGet(TimeUnit.DAYS.toMillis(2));
        advance(TimeUnit.MINUTES.toMillis(31));
        assertThat(told).containsExactly("drain", "end");
    }

    /** What was due by the clock as it was is not by the clock as it is. */
    @Test
    void aClockThatIsSetBackGivesTime() {
        begin(TimeUnit.MINUTES.toMillis(10));
        wall.addAndGet(-TimeUnit.DAYS.toMillis(1));
        advance(TimeUnit.HOURS.toMillis(3));
        assertThat(told).isEmpty();
        wall.addAndGet(TimeUnit.DAYS.toMillis(1) + TimeUnit.MINUTES.toMillis(11));
        advance(TimeUnit.MINUTES.toMillis(61));
        assertThat(told).containsExactly("drain", "end");
    }

    @Test
    void nothingHappensOnceItIsCancelled() {
        begin(-1).cancel();
        advance(60_000);
        assertThat(told).isEmpty();
    }
}
