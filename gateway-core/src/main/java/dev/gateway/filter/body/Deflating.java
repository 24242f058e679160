package dev.gateway.filter.body;

import dev.gateway.filter.BodyTransform;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/** Compresses a body. Takes a compressor from its event loop's {@link Deflaters} at the first byte. */
final class Deflating implements BodyTransform {
    private static final int LARGEST = 16 * 1024;
    private static final int SMALLEST =
            512; // larger than the marker of a flush, or zlib would write it again and again
    private static final int OVERHEAD = 64; // of a flush, a header and a trailer

    private static final int UNKNOWN_SYSTEM = 255;
    private static final byte[] GZIP_HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) UNKNOWN_SYSTEM};
    private static final byte[] ZLIB_HEADER = {0x78, (byte) 0x9c};
    private static final byte[] NOTHING = {};
    private static final int GZIP_TRAILER = 8;

    private final ContentCoding coding;
    private final int level;
    private final CompressedBytes count;
    private final Checksum sum;
    private ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
    private @Nullable Deflaters loop; // where the deflater comes from
    private @Nullable Deflater deflater; // null before the first byte
    private long length; // number of bytes read
    private int unflushed; // bytes read since the last flush
    private boolean begun; // the header has been passed on
    private boolean finished; // only the trailer is missing

    /** Creates the state of a body that has not begun. */
    Deflating(ContentCoding coding, int level, CompressedBytes count) {
        this.coding = coding;
        this.level = level;
        this.count = count;
        this.sum = coding.newChecksum();
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        if (in.isReadable()) {
            alloc = in.alloc();
        } else if (input == Input.CONTINUES || (input == Input.PAUSES && unflushed == 0)) {
            return MORE;
        }
        int size = Math.max(SMALLEST, Math.min(LARGEST, in.readableBytes() + unflushed + OVERHEAD));
        ByteBuf out = alloc.directBuffer(size, size);
        boolean passed = false;
        try {
            byte[] header = begun ? NOTHING : coding == ContentCoding.GZIP ? GZIP_HEADER : ZLIB_HEADER;
            out.writeBytes(header);
            if (!finished) {
                deflate(in, out, input);
            }
            boolean last = finished && out.writableBytes() >= GZIP_TRAILER;
            if (last) {
                writeTrailer(out);
            }
            if (out.readableBytes() == header.length) {
                return MORE; // the header goes with the first bytes
            }
            begun = true;
            passed = true;
            count.written(out.readableBytes());
            return new Piece(out, last);
        } finally {
            if (!passed) {
                out.release();
            }
        }
    }

    private void deflate(ByteBuf in, ByteBuf out, Input input) {
        Deflater by = deflater;
        if (by == null) {
            loop = Deflaters.ofThisLoop();
            by = loop.take(level);
            deflater = by;
        }
        ByteBuffer source = in.nioBuffer();
        int before = source.remaining();
        by.setInput(source); // also if empty: the previous buffer may have been released
        if (input == Input.ENDS) {
            by.finish();
        }
        ByteBuffer room = out.nioBuffer(out.writerIndex(), out.writableBytes());
        int written = by.deflate(room, input == Input.PAUSES ? Deflater.SYNC_FLUSH : Deflater.NO_FLUSH);
        out.writerIndex(out.writerIndex() + written);
        int read = before - source.remaining();
        if (read > 0) {
            sum.update(in.nioBuffer(in.readerIndex(), read));
            in.skipBytes(read);
            length += read;
            count.read(read);
        }
        boolean full = !room.hasRemaining();
        unflushed = input == Input.PAUSES && !full ? 0 : Math.min(LARGEST, unflushed + read);
        finished = by.finished();
    }

    private void writeTrailer(ByteBuf out) {
        if (coding == ContentCoding.GZIP) {
            out.writeIntLE((int) sum.getValue());
            out.writeIntLE((int) length);
        } else {
            out.writeInt((int) sum.getValue());
        }
    }

    @Override
    public void close() {
        if (deflater != null && loop != null) {
            loop.giveBack(deflater, level);
            deflater = null;
        }
    }
}
