package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ReadSizesTest {
    private final AtomicBoolean scarce = new AtomicBoolean();
    private final RecvByteBufAllocator.ExtendedHandle size = new ReadSizes(scarce::get).newHandle();

    @Test
    void growsWithWhatFillsItAndShrinksWithWhatDoesNot() {
        int first = size.guess();
        assertThat(first).isLessThanOrEqualTo(ReadSizes.MODERATE);

        read(first);
        assertThat(size.guess()).isGreaterThan(first);
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        read(size.guess());
        assertThat(size.guess()).isEqualTo(ReadSizes.BULK);

        for (int i = 0; i < 40; i++) {
            read(100);
        }
        assertThat(size.guess()).isEqualTo(1024);
    }

    @Test
    void takesNoLargeBufferWhileMemoryIsScarce() {
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        scarce.set(true);
        read(size.guess());
        assertThat(size.guess()).isEqualTo(ReadSizes.MODERATE);

        scarce.set(false);
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
    }

    /** Else single bytes that nobody takes could each keep a large one. */
    @Test
    void takesNoLargeBufferAfterOneThatGotLittle() {
        while (size.guess() < ReadSizes.BULK) {
            read(size.guess());
        }
        read(1);
        assertThat(size.guess()).isEqualTo(ReadSizes.MODERATE);

        read(ReadSizes.MODERATE);
        assertThat(size.guess()).isGreaterThan(ReadSizes.MODERATE);
    }

    @Test
    void asksForMemoryOfSocketsOnly() {
        scarce.set(true);
        assertThat(size.guess()).isLessThanOrEqualTo(ReadSizes.MODERATE);
        ByteBuf buffer = size.allocate(UnpooledByteBufAllocator.DEFAULT);
        try {
            assertThat(buffer.isDirect()).isTrue();
            assertThat(buffer.writableBytes()).isEqualTo(size.guess());
        } finally {
            buffer.release();
        }
    }

    /** What a channel does for one read of a socket that had so many bytes. */
    private void read(int bytes) {
        size.reset(new EmbeddedChannel().config());
        size.attemptedBytesRead(size.guess());
        size.lastBytesRead(bytes);
        size.incMessagesRead(1);
        size.readComplete();
    }
}
