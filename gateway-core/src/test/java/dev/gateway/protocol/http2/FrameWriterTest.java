package dev.gateway.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.ScarceMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of frames when memory runs out while they are written. */
@Timeout(60)
class FrameWriterTest {
    private static final int FRAME = 16_384;

    private final ScarceMemory memory = new ScarceMemory(0);
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext ctx = channel.pipeline().firstContext();
    private final FrameWriter writer = new FrameWriter(
            new FloodGuard(true, Pair.wheel(channel), ConnectionObserver.NONE, 8192), ConnectionObserver.NONE);

    FrameWriterTest() {
        channel.config().setAllocator(memory);
    }

    @AfterEach
    void finish() {
        writer.close();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 1000, FRAME})
    void aBodyIsReleasedThatCannotBeWritten(int length) {
        ByteBuf data = Buffers.of(new byte[length]);
        assertThatThrownBy(() -> writer.data(ctx, 1, data, true)).isInstanceOf(OutOfMemoryError.class);
        assertThat(data.refCnt()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aBodyIsReleasedOfWhichOnlySomeFramesCanBeWritten(int frames) {
        ByteBuf data = Buffers.of(new byte[2 * FRAME + 1000]);
        memory.leave(frames);
        assertThatThrownBy(() -> writer.data(ctx, 1, data, true)).isInstanceOf(OutOfMemoryError.class);
        channel.flushOutbound();
        channel.releaseOutbound();
        assertThat(data.refCnt()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aHeadIsReleasedOfWhichOnlySomeFramesCanBeWritten(int buffers) {
        memory.leave(buffers); // the first is the head's
        assertThatThrownBy(() -> writer.head(ctx, 1, head(3 * FRAME), true)).isInstanceOf(OutOfMemoryError.class);
        channel.flushOutbound();
        channel.releaseOutbound();
        // What is leaked is seen by the extension that looks for it after each class.
    }

    @Test
    void nothingIsSentOfAHeadThatDoesNotFitIn() {
        memory.leave(1);
        writer.writePing(ctx, true, 1, channel.newPromise());
        assertThatThrownBy(() -> writer.head(
                        ctx,
                        1,
                        head(FRAME, () -> {
                            throw new IllegalStateException("made by the test");
                        }),
                        true))
                .hasRootCauseMessage("made by the test");
        writer.emit(ctx);
        channel.flush();
        ByteBuf sent = channel.readOutbound();
        assertThat(sent.readableBytes()).isEqualTo(17);
        sent.release();
    }

    @Test
    void aHeadThatCannotBeWrittenEndsItsConnectionAndNobodyElses() {
        try (Pair pair = new Pair()) {
            Pair.Exchange mine = pair.open();
            mine.client().head(Http2ConnectionsTest.get("/"), true);
            mine.client().flush();
            pair.pump();
            pair.serverChannel.config().setAllocator(memory);

            pair.requests.get(0).server().head(Http2ConnectionsTest.response(200), true);
            pair.pump();
            assertThat(pair.serverChannel.isOpen()).isFalse();
            assertThat(mine.failure).isNotNull();
        }
    }

    private static Http2Headers head(int bytes) {
        return head(bytes, () -> {});
    }

    /** Returns a head with a field that HPACK cannot make shorter, and whose last field does something when it is read. */
    private static Http2Headers head(int bytes, Runnable last) {
        StringBuilder value = new StringBuilder();
        for (int i = 0; i < bytes; i++) {
            value.append('~');
        }
        return new DefaultHttp2Headers(false).status("200").add("x-long", value).add("x-last", new Watched(last));
    }

    /** A value that tells when it is read. */
    private record Watched(Runnable onRead) implements CharSequence {
        @Override
        public int length() {
            onRead.run();
            return 1;
        }

        @Override
        public char charAt(int index) {
            return 'x';
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return "x";
        }

        @Override
        public String toString() {
            return "x";
        }
    }
}
