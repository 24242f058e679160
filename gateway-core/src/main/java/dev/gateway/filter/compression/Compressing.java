package dev.gateway.filter.compression;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.coding.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/** Compresses a body. Takes a {@link Compressor} at the first byte. */
final class Compressing implements BodyTransform {
    private static final int LARGEST = 16 * 1024;

    /** Larger than the marker of a flush, or zlib would write it again and again. */
    private static final int SMALLEST = 512;

    private static final int OVERHEAD = 64; // of a flush, a header and a trailer

    private final ContentCoding coding;
    private final int level;
    private final CompressedBytes count;
    private ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
    private @Nullable Compressor compressor; // null before the first byte
    private int unflushed; // bytes read since the last flush, up to the size of a piece

    /** Creates the state of a body that has not begun. */
    Compressing(ContentCoding coding, int level, CompressedBytes count) {
        this.coding = coding;
        this.level = level;
        this.count = count;
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        if (in.isReadable()) {
            alloc = in.alloc();
        } else if (input == Input.CONTINUES || (input == Input.PAUSES && unflushed == 0)) {
            return MORE;
        }
        Compressor by = compressor;
        if (by == null) {
            by = Compressors.create(coding, level);
            compressor = by;
        }
        int size = Math.max(SMALLEST, Math.min(LARGEST, in.readableBytes() + unflushed + OVERHEAD));
        ByteBuf out = alloc.directBuffer(size, size);
        boolean passed = false;
        try {
            int before = in.readableBytes();
            by.compress(in, out, input);
            int read = before - in.readableBytes();
            count.read(read);
            unflushed = input == Input.PAUSES && out.isWritable() ? 0 : Math.min(LARGEST, unflushed + read);
            boolean last = by.isFinished();
            if (!out.isReadable() && !last) {
                return MORE;
            }
            passed = true;
            count.written(out.readableBytes());
            return new Piece(out, last);
        } finally {
            if (!passed) {
                out.release();
            }
        }
    }

    @Override
    public void close() {
        if (compressor != null) {
            compressor.close();
            compressor = null;
        }
    }
}
