package dev.gateway.exchange.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Seeds;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class WebSocketFramesTest {
    private static final int[] LENGTHS = {0, 1, 5, 125, 126, 127, 300, 65_535, 65_536, 70_000};

    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    private final Set<Integer> ends = new HashSet<>(Set.of(0));

    private void frame(int opcode, boolean masked, int length) {
        sent.write(0x80 | opcode);
        int mask = masked ? 0x80 : 0;
        if (length < 126) {
            sent.write(mask | length);
        } else if (length < 65_536) {
            sent.write(mask | 126);
            sent.write(length >> 8);
            sent.write(length);
        } else {
            sent.write(mask | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                sent.write((int) ((long) length >> shift));
            }
        }
        for (int i = 0; i < (masked ? 4 : 0) + length; i++) {
            sent.write(0x88); // would be a Close frame if it were read as a header
        }
        ends.add(sent.size());
    }

    @ParameterizedTest
    @Seeds(5)
    void theEndsOfFramesAreFoundHoweverTheBytesAreCut(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 30; i++) {
            frame(1 + random.nextInt(2), random.nextInt(3) == 0, LENGTHS[random.nextInt(LENGTHS.length)]);
        }
        byte[] bytes = sent.toByteArray();
        WebSocketFrames frames = new WebSocketFrames();
        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(bytes.length - at, 1 + random.nextInt(random.nextBoolean() ? 4 : 20_000));
            frames.skip(Unpooled.wrappedBuffer(bytes, at, length));
            at += length;
            assertThat(frames.isBetweenFrames()).as("at %s", at).isEqualTo(ends.contains(at));
        }
        assertThat(frames.isClosing()).isFalse();
    }

    @Test
    void theEndOfTheFirstFrameIsFoundAmongOthers() {
        frame(2, false, 300);
        int first = sent.size();
        frame(2, false, 5);
        byte[] bytes = sent.toByteArray();
        for (int cut = 1; cut < first; cut++) {
            WebSocketFrames frames = new WebSocketFrames();
            frames.skip(Unpooled.wrappedBuffer(bytes, 0, cut));
            ByteBuf rest = Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut);
            assertThat(frames.skipToFrameEnd(rest)).isEqualTo(first - cut);
            assertThat(rest.readableBytes()).as("is left as it is").isEqualTo(bytes.length - cut);
        }
    }

    @Test
    void aFrameWhoseEndHasNotComeHasNone() {
        frame(2, false, 300);
        WebSocketFrames frames = new WebSocketFrames();
        assertThat(frames.skipToFrameEnd(Unpooled.wrappedBuffer(sent.toByteArray(), 0, 100)))
                .isEqualTo(-1);
        assertThat(frames.skipToFrameEnd(Unpooled.EMPTY_BUFFER)).isEqualTo(-1);
        assertThat(frames.skipToFrameEnd(Unpooled.wrappedBuffer(new byte[204]))).isEqualTo(204);
    }

    @Test
    void aCloseFrameIsSeenWhenItIsWhole() {
        frame(1, false, 3);
        frame(8, false, 2);
        byte[] bytes = sent.toByteArray();
        WebSocketFrames frames = new WebSocketFrames();
        frames.skip(Unpooled.wrappedBuffer(bytes, 0, bytes.length - 1));
        assertThat(frames.isClosing()).isFalse();
        frames.skip(Unpooled.wrappedBuffer(bytes, bytes.length - 1, 1));
        assertThat(frames.isClosing()).isTrue();
    }

    @Test
    void aLengthThatNoFrameMayHaveDoesNoHarm() {
        WebSocketFrames frames = new WebSocketFrames();
        byte[] bytes = new byte[100];
        bytes[0] = (byte) 0x82;
        bytes[1] = 127;
        bytes[2] = (byte) 0xff;
        frames.skip(Unpooled.wrappedBuffer(bytes));
        assertThat(frames.isBetweenFrames()).isFalse();
    }
}
