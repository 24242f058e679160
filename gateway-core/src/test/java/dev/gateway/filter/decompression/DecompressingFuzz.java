package dev.gateway.filter.decompression;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdInputStream;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.stream.Cause;
import dev.gateway.testing.BrotliBytes;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: a compressed body. The first byte of the input chooses the coding, the second how it is cut; the rest is the
 * body. What comes out does not depend on the cuts, is what other libraries read, and is bounded in size, ratio and memory.
 */
final class DecompressingFuzz {
    private static final List<ContentCoding> CODINGS = List.of(ContentCoding.values());
    private static final long MAX_BYTES = 256 * 1024;
    private static final long ANY_RATIO = Long.MAX_VALUE;
    private static final long MAX_RATIO = 50;
    private static final long MAX_MEMORY = 10 << 20; // a window of 8 MiB, three blocks, and some

    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true);

    static {
        for (ContentCoding coding : ContentCoding.values()) {
            assertThat(CodecLibraries.load(coding)).isNull();
        }
    }

    /** What became of a body. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its parts
    private record Outcome(byte[] made, @Nullable Cause failure) {}

    private DecompressingFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length < 2) {
            return;
        }
        ContentCoding coding = CODINGS.get(input[0] & 3);
        byte[] body = Arrays.copyOfRange(input, 2, input.length);
        Outcome whole = run(coding, body, new Random(0), body.length + 1, ANY_RATIO);
        Outcome cut = run(coding, body, new Random(input[1]), 1 + (input[1] & 0x1f), ANY_RATIO);
        // Where a body is both invalid and too large, the cut decides which of the two is seen first.
        assertThat(cut.failure == null).isEqualTo(whole.failure == null);
        int common = Math.min(cut.made.length, whole.made.length);
        assertThat(Arrays.copyOf(cut.made, common)).isEqualTo(Arrays.copyOf(whole.made, common));
        if (whole.failure == null) {
            assertThat(cut.made).hasSameSizeAs(whole.made);
            assertThat(whole.made).isEqualTo(read(coding, body, whole.made.length + 1));
        }
        Outcome bounded = run(coding, body, new Random(input[1]), 1 + (input[1] & 0x7f), MAX_RATIO);
        assertThat((long) bounded.made.length)
                .isLessThanOrEqualTo(Math.max(Decompressing.FREE, MAX_RATIO * body.length));
        if (whole.failure == null && whole.made.length <= Decompressing.FREE) {
            assertThat(bounded.failure).isNull();
        }
    }

    private static Outcome run(ContentCoding coding, byte[] body, Random cuts, int longest, long maxRatio) {
        long[] held = {0};
        DecompressionMemory memory = new DecompressionMemory(bytes -> {
            held[0] += bytes;
            return held[0] <= MAX_MEMORY;
        });
        try (Pieces pieces = new Pieces(new Decompressing(coding, MAX_BYTES, maxRatio, memory))) {
            int at = 0;
            while (pieces.failure == null && at < body.length) {
                int length = Math.min(1 + cuts.nextInt(longest), body.length - at);
                boolean heap = cuts.nextInt(4) == 0;
                boolean last = at + length == body.length && cuts.nextBoolean();
                ByteBufAllocator allocator = ALLOCATOR;
                pieces.give(
                        (heap ? allocator.heapBuffer(length) : allocator.directBuffer(length))
                                .writeBytes(body, at, length),
                        last ? Input.ENDS : cuts.nextBoolean() ? Input.PAUSES : Input.CONTINUES);
                at += length;
            }
            if (pieces.failure == null && !pieces.ended) {
                pieces.end();
            }
            byte[] made = pieces.made.toByteArray();
            assertThat((long) made.length).isLessThanOrEqualTo(MAX_BYTES);
            assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
            return new Outcome(made, pieces.failure == null ? null : pieces.failure.cause());
        } finally {
            assertThat(ALLOCATOR.metric().usedDirectMemory())
                    .as("direct memory")
                    .isZero();
            assertThat(ALLOCATOR.metric().usedHeapMemory()).as("heap").isZero();
        }
    }

    /** Returns what another library reads. */
    private static byte[] read(ContentCoding coding, byte[] body, int most) {
        if (body.length == 0) {
            return body;
        }
        ByteArrayInputStream bytes = new ByteArrayInputStream(body);
        try (InputStream in =
                switch (coding) {
                    case GZIP -> new ByteArrayInputStream(readMembers(body));
                    case DEFLATE -> new InflaterInputStream(bytes);
                    case BR -> BrotliBytes.read(body);
                    case ZSTD -> new ZstdInputStream(bytes);
                }) {
            return in.readNBytes(most);
        } catch (IOException e) {
            throw new AssertionError("another library cannot read it", e);
        }
    }

    /** Reads gzip (RFC 1952) from one array. GZIPInputStream ignores bytes after a member that begin no other one. */
    private static byte[] readMembers(byte[] body) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        int at = 0;
        while (at < body.length) {
            at = readMember(body, endOfHeader(body, at), read);
        }
        return read.toByteArray();
    }

    private static int endOfHeader(byte[] body, int start) {
        int flags = body[start + 3];
        int at = start + 10;
        if ((flags & 4) != 0) {
            at += 2 + (body[at] & 0xff) + ((body[at + 1] & 0xff) << 8);
        }
        for (int strings = Integer.bitCount(flags & 0x18); strings > 0; at++) {
            strings -= body[at] == 0 ? 1 : 0;
        }
        return at + ((flags & 2) != 0 ? 2 : 0); // the sum of a header need not be checked
    }

    private static int readMember(byte[] body, int start, ByteArrayOutputStream to) throws IOException {
        Inflater inflater = new Inflater(true);
        CRC32 sum = new CRC32();
        try {
            inflater.setInput(body, start, body.length - start);
            byte[] piece = new byte[64 * 1024];
            while (!inflater.finished()) {
                int length = inflater.inflate(piece);
                if (length == 0 && !inflater.finished()) {
                    throw new IOException("it ends too early");
                }
                sum.update(piece, 0, length);
                to.write(piece, 0, length);
            }
            int end = start + (int) inflater.getBytesRead();
            ByteBuffer trailer = ByteBuffer.wrap(body, end, 8).order(ByteOrder.LITTLE_ENDIAN);
            assertThat(trailer.getInt()).isEqualTo((int) sum.getValue());
            assertThat(trailer.getInt()).isEqualTo((int) inflater.getBytesWritten());
            return end + 8;
        } catch (DataFormatException e) {
            throw new IOException(e);
        } finally {
            inflater.end();
        }
    }
}
