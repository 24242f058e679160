package dev.gateway.filter.compression;

import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.ContentCoding;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import java.util.zip.Deflater;

/** Compressor to gzip (RFC 1952) or the zlib format (RFC 1950), with a deflater of its event loop. */
final class ZlibCompressor implements Compressor {
    private static final int UNKNOWN_SYSTEM = 255;
    private static final byte[] GZIP_HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) UNKNOWN_SYSTEM};
    private static final byte[] ZLIB_HEADER = {0x78, (byte) 0x9c};
    private static final byte[] NOTHING = {};
    private static final int GZIP_TRAILER = 8;

    private final boolean isGzip;
    private final int level;
    private final Checksum sum;
    private final IdleCompressors<Deflater> loop;
    private final Deflater deflater;
    private long length; // number of bytes read
    private boolean begun; // the header has been written
    private boolean finished; // so has the trailer

    /** Takes a deflater of the current event loop. */
    ZlibCompressor(ContentCoding coding, int level) {
        this.isGzip = coding == ContentCoding.GZIP;
        this.level = level;
        this.sum = coding.newChecksum();
        this.loop = Deflaters.ofThisLoop();
        this.deflater = loop.take(level);
    }

    @Override
    public void compress(ByteBuf in, ByteBuf out, Input input) {
        byte[] header = begun ? NOTHING : isGzip ? GZIP_HEADER : ZLIB_HEADER;
        out.writeBytes(header);
        if (!deflater.finished()) {
            deflate(in, out, input);
        }
        if (deflater.finished() && out.writableBytes() >= GZIP_TRAILER) {
            writeTrailer(out);
            finished = true;
        }
        begun |= out.readableBytes() > header.length;
        if (!begun) {
            out.clear(); // the header goes with the first bytes
        }
    }

    private void deflate(ByteBuf in, ByteBuf out, Input input) {
        ByteBuffer source = in.nioBuffer();
        int before = source.remaining();
        deflater.setInput(source); // also if empty: the previous buffer may have been released
        if (input == Input.ENDS) {
            deflater.finish();
        }
        ByteBuffer room = out.nioBuffer(out.writerIndex(), out.writableBytes());
        int written = deflater.deflate(room, input == Input.PAUSES ? Deflater.SYNC_FLUSH : Deflater.NO_FLUSH);
        out.writerIndex(out.writerIndex() + written);
        int read = before - source.remaining();
        if (read > 0) {
            sum.update(in.nioBuffer(in.readerIndex(), read));
            in.skipBytes(read);
            length += read;
        }
    }

    private void writeTrailer(ByteBuf out) {
        if (isGzip) {
            out.writeIntLE((int) sum.getValue());
            out.writeIntLE((int) length);
        } else {
            out.writeInt((int) sum.getValue());
        }
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    @Override
    public void close() {
        loop.giveBack(deflater, level);
    }
}
