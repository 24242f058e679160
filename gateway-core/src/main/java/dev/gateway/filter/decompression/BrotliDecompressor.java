package dev.gateway.filter.decompression;

import com.aayushatharva.brotli4j.decoder.DecoderJNI;
import com.aayushatharva.brotli4j.decoder.DecoderJNI.Status;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Decompressor of Brotli (RFC 7932) by brotli4j. One call of the decoder makes a window of output, before any limit counts. So
 * the decoder never gets to know of a window of more than 256 KiB: up to that length of output, a larger one makes no
 * difference. A body with a larger window that becomes longer is refused. The window is charged before the library allocates
 * it.
 */
final class BrotliDecompressor implements Decompressor {
    /**
     * Native memory of a decoder without its window. Mostly prefix codes: a body may have 256 of each of three kinds, with 256,
     * 704 and 520 symbols. The table of one takes four bytes for each symbol, and for 376 more.
     */
    static final int BYTES = 2688 * 1024;

    /** 256 KiB. Each call of the decoder may take as long as a whole window needs. */
    static final int MAX_WINDOW_LOG = 18;

    /** How far a reference may reach back (RFC 7932, section 9.1): a larger window matters beyond only. */
    private static final int REACH = (1 << MAX_WINDOW_LOG) - 16;

    private static final int INPUT = 4 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final DecompressionMemory memory;
    private DecoderJNI.@Nullable Wrapper decoder; // null before the first byte
    private ByteBuffer output = NOTHING; // of the decoder, valid until its next call
    private boolean pulled; // the decoder may have more output from what it has read
    private long left = Long.MAX_VALUE; // of the output that the window is large enough for

    BrotliDecompressor(DecompressionMemory memory) {
        this.memory = memory;
    }

    @Override
    public @Nullable Failure decompress(ByteBuf in, ByteBuf out) {
        DecoderJNI.Wrapper by = decoder;
        if (by == null) {
            if (!in.isReadable()) {
                return null;
            }
            int windowLog = windowLog(in.getByte(in.readerIndex()));
            Failure failure = memory.hold(1L << Math.min(windowLog, MAX_WINDOW_LOG));
            if (failure != null) {
                return failure;
            }
            by = open();
            decoder = by;
            if (windowLog > MAX_WINDOW_LOG) {
                left = REACH;
                by.getInputBuffer().clear().put(smallerWindow(in.readByte()));
                push(by, 1);
            }
        }
        do {
            int length = Math.min(output.remaining(), out.writableBytes());
            if (length > left) {
                return ContentCoding.BR.invalid("it needs a window of more than 256 KiB");
            }
            left -= length;
            out.writeBytes(output.slice(output.position(), length));
            output.position(output.position() + length);
        } while (!output.hasRemaining() && advance(by, in));
        return by.getStatus() == Status.ERROR || (by.getStatus() == Status.DONE && in.isReadable())
                ? problem(by)
                : null;
    }

    /** Returns the first byte of a body with the largest window that is allowed, instead of a larger one. */
    private static byte smallerWindow(byte first) {
        return (byte) ((first & ~0xe) | ((MAX_WINDOW_LOG - 17) << 1));
    }

    private static DecoderJNI.Wrapper open() {
        try {
            return new DecoderJNI.Wrapper(INPUT);
        } catch (IOException e) {
            throw new OutOfMemoryError("of the Brotli decoder");
        }
    }

    /** Takes the next output of the decoder, or lets it do more. Returns false if nothing is left to do. */
    private boolean advance(DecoderJNI.Wrapper by, ByteBuf in) {
        Status status = by.getStatus();
        if (status == Status.ERROR) {
            return false;
        } else if (status == Status.NEEDS_MORE_OUTPUT || by.hasOutput()) {
            output = by.pull();
            pulled = true;
        } else if (status == Status.DONE) {
            return false;
        } else if (in.isReadable() && status == Status.NEEDS_MORE_INPUT) {
            ByteBuffer buffer = by.getInputBuffer().clear();
            int length = Math.min(in.readableBytes(), INPUT);
            in.readBytes(buffer.limit(length));
            push(by, length);
        } else if (pulled || status == Status.OK) {
            push(by, 0);
        } else {
            return false;
        }
        return true;
    }

    private void push(DecoderJNI.Wrapper by, int length) {
        output = NOTHING;
        pulled = false;
        by.push(length);
    }

    /** The library has the same status for data that are wrong, and for bytes that follow the end. */
    private Failure problem(DecoderJNI.Wrapper by) {
        return ContentCoding.BR.invalid(
                by.getStatus() == Status.DONE ? "bytes follow its end" : "its data are wrong, or bytes follow its end");
    }

    /** Returns the binary logarithm of the window, which the first byte tells (RFC 7932, section 9.1). */
    static int windowLog(int first) {
        if ((first & 1) == 0) {
            return 16;
        }
        int high = first >> 1 & 7;
        if (high != 0) {
            return 17 + high;
        }
        int low = first >> 4 & 7;
        return low == 0 ? 17 : 8 + low; // 9 is invalid, which the decoder finds out
    }

    @Override
    public boolean isWhole() {
        return decoder != null && decoder.getStatus() == Status.DONE && !output.hasRemaining();
    }

    @Override
    public void close() {
        output = NOTHING;
        if (decoder != null) {
            decoder.destroy();
            decoder = null;
        }
    }
}
