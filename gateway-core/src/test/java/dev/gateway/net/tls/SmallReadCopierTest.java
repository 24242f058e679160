package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.transport.ReceiveRing;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.uring.IoUringChannelOption;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SmallReadCopierTest {
    private final ByteBuf buffer = Unpooled.directBuffer(64 << 10).writeZero(64 << 10);

    @Test
    void whatIsSmallKeepsNoBufferThatIsShared() {
        EmbeddedChannel channel = connection(ReceiveRing.GROUP);
        channel.writeInbound(buffer.readRetainedSlice(1), buffer.readRetainedSlice(SmallReadCopier.SMALL));

        assertThat(buffer.refCnt()).isEqualTo(1);
        assertLengths(channel, 1, SmallReadCopier.SMALL);
    }

    @Test
    void whatIsLargeIsNotCopied() {
        EmbeddedChannel channel = connection(ReceiveRing.GROUP);
        channel.writeInbound(buffer.readRetainedSlice(SmallReadCopier.SMALL + 1));

        assertThat(buffer.refCnt()).isEqualTo(2);
        assertLengths(channel, SmallReadCopier.SMALL + 1);
    }

    @Test
    void nothingIsCopiedWhereBuffersAreNotShared() {
        EmbeddedChannel channel = connection(null);
        channel.writeInbound(buffer.readRetainedSlice(1));

        assertThat(buffer.refCnt()).isEqualTo(2);
        assertLengths(channel, 1);
    }

    private void assertLengths(EmbeddedChannel channel, int... lengths) {
        for (int length : lengths) {
            ByteBuf read = channel.readInbound();
            assertThat(read.readableBytes()).isEqualTo(length);
            read.release();
        }
        assertThat(channel.finish()).isFalse();
        assertThat(buffer.release()).isTrue();
    }

    /** A connection of that group of buffers, null for one that has no such option. */
    private static EmbeddedChannel connection(@Nullable Short group) {
        ChannelConfig config = new DefaultChannelConfig(new EmbeddedChannel()) {
            @Override
            @SuppressWarnings("unchecked")
            public <T> @Nullable T getOption(ChannelOption<T> option) {
                return option.equals(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID)
                        ? (T) group
                        : super.getOption(option);
            }
        };
        EmbeddedChannel channel = new EmbeddedChannel(DefaultChannelId.newInstance(), false, config);
        SmallReadCopier.copy(channel.pipeline());
        return channel;
    }
}
