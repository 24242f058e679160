package dev.gateway.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The leak detection itself detects. */
class LeakDetectorTest {
    @Test
    void aBufferThatNobodyReleasesIsReported() throws Exception {
        assertThat(LeakDetector.report()).isNull();
        forget();
        assertThat(LeakDetector.report()).contains("forget");
        assertThat(LeakDetector.report()).isNull();
    }

    /** As many are open as before, so the cheap look need not see it. */
    @Test
    void aLeakThatAReleaseMakesUpForIsReportedByTheThoroughLook() throws Exception {
        ByteBuf held = PooledByteBufAllocator.DEFAULT.directBuffer();
        assertThat(LeakDetector.reportAll()).isNull();
        held.release();
        forget();
        assertThat(LeakDetector.reportAll()).contains("forget");
    }

    private static void forget() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer();
        buffer.writeInt(1);
    }
}
