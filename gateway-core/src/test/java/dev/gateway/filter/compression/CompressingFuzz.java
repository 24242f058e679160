package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdInputStream;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.filter.decompression.Decompressing;
import dev.gateway.filter.decompression.DecompressionMemory;
import dev.gateway.testing.BrotliBytes;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;

/**
 * Fuzz target: a body that is compressed. The first byte of the input chooses coding and level. Each pair after it says what
 * comes next, how much of it, and whether a pause follows; some have bytes of their own. Other libraries read the same.
 */
final class CompressingFuzz {
    private static final List<ContentCoding> CODINGS = List.of(ContentCoding.values());
    private static final int MOST_BYTES = 160_000;
    private static final int OVERHEAD = 64; // of a header, a flush or a trailer

    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true);

    static {
        for (ContentCoding coding : ContentCoding.values()) {
            assertThat(CodecLibraries.load(coding)).isNull();
        }
    }

    private CompressingFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        ContentCoding coding = CODINGS.get(input[0] & 3);
        int level = 1 + (input[0] >> 2 & 0x3f) % 9;
        CompressedBytes count = new CompressedBytes();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (Pieces pieces = new Pieces(new Compressing(coding, level, count))) {
            int flushes = give(pieces, input, body, coding);
            pieces.end();
            assertThat(pieces.failure).isNull();
            assertThat(pieces.ended).isTrue();
            byte[] made = pieces.made.toByteArray();
            assertThat(read(coding, made, body.size() + 1)).isEqualTo(body.toByteArray());
            assertThat(count.input()).isEqualTo(body.size());
            assertThat(count.output()).isEqualTo(made.length);
            assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
            assertThat(made.length).isLessThanOrEqualTo(body.size() + body.size() / 500 + OVERHEAD * (2 + flushes));
            checkOwnReader(coding, made, body.toByteArray());
        } finally {
            assertThat(ALLOCATOR.metric().usedDirectMemory())
                    .as("direct memory")
                    .isZero();
            assertThat(ALLOCATOR.metric().usedHeapMemory()).as("heap").isZero();
        }
    }

    /** Gives what the input says; returns how many pauses there were. */
    private static int give(Pieces pieces, byte[] input, ByteArrayOutputStream body, ContentCoding coding)
            throws IOException {
        int flushes = 0;
        int at = 1;
        while (at + 1 < input.length && body.size() < MOST_BYTES) {
            int kind = input[at] & 0xff;
            int amount = input[at + 1] & 0xff;
            at += 2;
            byte[] part;
            if ((kind & 3) == 0) {
                part = Arrays.copyOfRange(input, at, Math.min(input.length, at + amount));
                at += part.length;
            } else {
                part = part(kind & 3, amount, kind >> 4, body.toByteArray());
            }
            body.writeBytes(part);
            boolean pauses = (kind & 4) != 0;
            var bytes = (kind & 8) == 0 ? ALLOCATOR.directBuffer(part.length) : ALLOCATOR.heapBuffer(part.length);
            pieces.give(bytes.writeBytes(part), pauses ? Input.PAUSES : Input.CONTINUES);
            if (pauses) {
                flushes++;
                assertThat(pieces.pause()).as("a second pause").isZero();
                if (body.size() > 0) {
                    assertThat(read(coding, pieces.made.toByteArray(), body.size()))
                            .isEqualTo(body.toByteArray());
                }
            }
        }
        return flushes;
    }

    private static byte[] part(int kind, int amount, int factor, byte[] before) {
        byte[] part = new byte[amount << (factor & 7)];
        if (kind == 1) {
            Arrays.fill(part, (byte) amount);
        } else if (kind == 2 || before.length == 0) {
            new Random(amount).nextBytes(part);
        } else {
            for (int i = 0; i < part.length; i++) {
                part[i] = before[(i * (factor | 1)) % before.length];
            }
        }
        return part;
    }

    /** Returns what another library reads, of a body that need not have ended. */
    private static byte[] read(ContentCoding coding, byte[] body, int most) throws IOException {
        ByteArrayInputStream bytes = new ByteArrayInputStream(body);
        try (InputStream in =
                switch (coding) {
                    case GZIP -> new GZIPInputStream(bytes);
                    case DEFLATE -> new InflaterInputStream(bytes);
                    case BR -> BrotliBytes.read(body);
                    case ZSTD -> new ZstdInputStream(bytes);
                }) {
            return in.readNBytes(most);
        }
    }

    private static void checkOwnReader(ContentCoding coding, byte[] made, byte[] body) {
        DecompressionMemory memory = new DecompressionMemory(bytes -> bytes <= 1 << 20);
        try (Pieces pieces = new Pieces(new Decompressing(coding, MOST_BYTES * 2, Long.MAX_VALUE, memory))) {
            pieces.give(ALLOCATOR.directBuffer(made.length).writeBytes(made), Input.ENDS);
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.toByteArray()).isEqualTo(body);
        }
    }
}
