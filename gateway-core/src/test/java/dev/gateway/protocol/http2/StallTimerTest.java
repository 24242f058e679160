package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a peer that takes nothing loses its stream, in time that only the test moves on. */
class StallTimerTest implements StallTimer.Owner {
    private static final long IDLE_MILLIS = 10_000;

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final StallTimer timer;
    private boolean window;
    private long written;
    private int stalled;

    StallTimerTest() {
        loop.freezeTime();
        timer = new StallTimer(this, Pair.wheel(loop), IDLE_MILLIS);
        timer.arm();
    }

    @AfterEach
    void close() {
        timer.cancel();
        loop.finishAndReleaseAll();
    }

    @Override
    public boolean hasWindow() {
        return window;
    }

    @Override
    public long dataWritten() {
        return written;
    }

    @Override
    public void onStalled() {
        stalled++;
    }

    private void afterIdle() {
        loop.advanceTimeBy(IDLE_MILLIS + 200, TimeUnit.MILLISECONDS);
        loop.runScheduledPendingTasks();
    }

    @Test
    void whoTakesNothingHasStalled() {
        afterIdle();
        assertEquals(1, stalled);
    }

    @Test
    void whoTakesSomethingIsWaitedForAgain() {
        timer.onProgress();
        afterIdle();
        assertEquals(0, stalled);
        assertTrue(timer.isArmed());
        afterIdle();
        assertEquals(1, stalled);
    }

    @Test
    void aStreamWhoseTurnItIsNotWaitsWhileOthersAreSent() {
        window = true;
        written += 100;
        afterIdle();
        assertEquals(0, stalled);
        afterIdle();
        assertEquals(1, stalled);
    }

    @Test
    void othersDoNotExcuseAPeerThatOpensNoWindow() {
        written += 100;
        afterIdle();
        assertEquals(1, stalled);
    }

    @Test
    void aWindowIsNoExcuseWhileNothingIsSentAtAll() {
        window = true;
        afterIdle();
        assertEquals(1, stalled);
    }
}
