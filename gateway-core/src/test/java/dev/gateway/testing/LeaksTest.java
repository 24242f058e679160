package dev.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The leak detection itself detects. */
class LeaksTest {
    @Test
    void aBufferThatNobodyReleasesIsReported() throws Exception {
        assertThat(Leaks.report()).isNull();
        forget();
        assertThat(Leaks.report()).contains("forget");
        assertThat(Leaks.report()).isNull();
    }

    private static void forget() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer();
        buffer.writeInt(1);
    }
}
