package dev.gateway.filter.decompression;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Decompresses a body. Checks the size and the ratio of the sizes; its {@link Decompressor}, which it takes at the first
 * byte, checks the rest.
 */
public final class Decompressing implements BodyTransform {
    private static final int LARGEST = 16 * 1024;
    private static final int SMALLEST = 256;
    private static final int USUAL_RATIO = 4;

    /** The ratio does not count before: short bodies may have a high one. */
    static final int FREE = 64 * 1024;

    private final ContentCoding coding;
    private final long maxBytes;
    private final long maxRatio;
    private final DecompressionMemory memory;
    private ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
    private @Nullable Decompressor decompressor; // null before the first byte
    private boolean full; // there may be more output from bytes that have been read
    private long read; // bytes of the whole body
    private long made; // bytes of the whole output

    /**
     * Creates the state of a body that has not begun.
     *
     * @param maxBytes maximum size of the output
     * @param maxRatio maximum ratio of output to input
     * @param memory what the decompressor takes in addition
     */
    public Decompressing(ContentCoding coding, long maxBytes, long maxRatio, DecompressionMemory memory) {
        this.coding = coding;
        this.maxBytes = maxBytes;
        this.maxRatio = maxRatio;
        this.memory = memory;
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        if (in.isReadable()) {
            alloc = in.alloc();
        }
        while (in.isReadable() || full) {
            Result result = decompress(in);
            if (result != MORE) {
                return result;
            }
        }
        Decompressor by = decompressor; // an empty body needs no coding
        return input != Input.ENDS || by == null || by.isWhole() ? MORE : new Fail(coding.invalid("it ends too early"));
    }

    private Result decompress(ByteBuf in) {
        Decompressor by = decompressor;
        if (by == null) {
            by = Decompressors.create(coding, memory);
            decompressor = by;
        }
        int size = full ? LARGEST : Math.max(SMALLEST, Math.min(LARGEST, in.readableBytes() * USUAL_RATIO));
        ByteBuf out = alloc.directBuffer(size, size);
        boolean passed = false;
        try {
            int before = in.readableBytes();
            Failure failure = by.decompress(in, out);
            read += before - in.readableBytes();
            made += out.readableBytes();
            full = !out.isWritable();
            if (failure == null) {
                failure = excess();
            }
            if (failure != null) {
                return new Fail(failure);
            }
            passed = out.isReadable();
            return passed ? new Piece(out, false) : MORE;
        } finally {
            if (!passed) {
                out.release();
            }
        }
    }

    private @Nullable Failure excess() {
        if (made > maxBytes) {
            return Failure.of(
                    Cause.BODY_TOO_LARGE, "a body of more than " + maxBytes + " bytes, decompressed (Decompression)");
        }
        return made > FREE && (made - 1) / maxRatio >= read // made > read * maxRatio, which might overflow
                ? Failure.of(
                        Cause.BODY_TOO_LARGE,
                        "a body that decompresses to more than " + maxRatio + " times its size (Decompression)")
                : null;
    }

    @Override
    public void close() {
        if (decompressor != null) {
            decompressor.close();
            decompressor = null;
        }
    }
}
