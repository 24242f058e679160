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

    private static void forget() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer();
        buffer.writeInt(1);
    }
}
