package dev.gateway.filter.decompression;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.DirectBytes;
import dev.gateway.filter.coding.ZstdErrors;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decompressor of zstd (RFC 8878) by zstd-jni: one or more frames. Reads their headers itself, to refuse large windows and
 * dictionaries, and to charge for the window before the library allocates it.
 */
final class ZstdDecompressor implements Decompressor {
    /** Native memory of a context without its window and blocks. */
    static final int BYTES = 112 * 1024;

    private static final int BLOCK = 128 * 1024;
    private static final int BLOCKS = 3; // one of input, and two that follow the window

    /** The part of the format that is read next. */
    private enum Part {
        HEADER,
        DATA,
        SKIPPED
    }

    private final DecompressionMemory memory;
    private final ZstdHeader header = new ZstdHeader();
    private @Nullable ZstdDecompressCtx context; // null before the first frame
    private Part part = Part.HEADER;
    private long skipped; // bytes left of a skippable frame
    private boolean full; // the context may have more output

    ZstdDecompressor(DecompressionMemory memory) {
        this.memory = memory;
    }

    @Override
    public @Nullable Failure decompress(ByteBuf in, ByteBuf out) {
        try {
            Failure failure = null;
            boolean more = true;
            while (failure == null && more) {
                Part before = part;
                switch (part) {
                    case HEADER -> failure = readHeader(in, out);
                    case DATA -> readData(in, out);
                    case SKIPPED -> skip(in);
                }
                more = part != before;
            }
            return failure;
        } catch (ZstdException e) {
            if (ZstdErrors.is(e, Zstd.errMemoryAllocation())) {
                throw new OutOfMemoryError("of zstd's decompressor");
            }
            return ContentCoding.ZSTD.invalid(
                    ZstdErrors.is(e, Zstd.errChecksumWrong()) ? "a checksum is wrong" : "its data are wrong");
        }
    }

    private @Nullable Failure readHeader(ByteBuf in, ByteBuf out) {
        if (!header.read(in)) {
            return null;
        }
        String problem = header.problem();
        if (problem != null) {
            return ContentCoding.ZSTD.invalid(problem);
        } else if (header.isSkippable()) {
            skipped = header.skipped();
            part = Part.SKIPPED;
            return null;
        }
        long window = header.window();
        Failure failure = memory.hold(window + BLOCKS * Math.min(window, BLOCK));
        if (failure == null) {
            if (context == null) {
                context = new ZstdDecompressCtx();
            }
            part = Part.DATA;
            ByteBuf bytes = header.copy(in);
            try {
                call(bytes, out);
            } finally {
                bytes.release();
            }
        }
        return failure;
    }

    private void readData(ByteBuf in, ByteBuf out) {
        while (part == Part.DATA && out.isWritable() && (in.isReadable() || full)) {
            ByteBuf bytes = DirectBytes.of(in);
            try {
                in.skipBytes(call(bytes, out));
            } finally {
                bytes.release();
            }
        }
    }

    /** Calls the library once. Returns how many bytes it has read. */
    private int call(ByteBuf bytes, ByteBuf out) {
        ByteBuffer source = bytes.nioBuffer();
        int before = source.position();
        ByteBuffer room = out.nioBuffer(out.writerIndex(), out.writableBytes());
        int start = room.position();
        boolean ended = Objects.requireNonNull(context).decompressDirectByteBufferStream(room, source);
        out.writerIndex(out.writerIndex() + room.position() - start);
        full = !room.hasRemaining();
        if (ended) {
            part = Part.HEADER;
            header.start();
        }
        return source.position() - before;
    }

    private void skip(ByteBuf in) {
        int length = (int) Math.min(skipped, in.readableBytes());
        in.skipBytes(length);
        skipped -= length;
        if (skipped == 0) {
            part = Part.HEADER;
            header.start();
        }
    }

    @Override
    public boolean isWhole() {
        return part == Part.HEADER && header.isEmpty();
    }

    @Override
    public void close() {
        if (context != null) {
            context.close();
            context = null;
        }
    }
}
