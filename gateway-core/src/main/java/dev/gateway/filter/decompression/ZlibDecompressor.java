package dev.gateway.filter.decompression;

import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Decompressor of gzip (RFC 1952) or the zlib format (RFC 1950). Checks the format and the checksums. Takes an inflater
 * from its event loop's {@link Inflaters} at the first byte of data.
 */
final class ZlibDecompressor implements Decompressor {
    private static final int GZIP_TRAILER = 8;
    private static final int ZLIB_TRAILER = 4;
    private static final int ZLIB_HEADER = 2;

    /** The part of the format that is read next. */
    private enum Part {
        HEADER,
        DATA,
        TRAILER,
        /** The end; with gzip, another member may follow. */
        END
    }

    private final ContentCoding coding;
    private final boolean isGzip;
    private final Checksum sum;
    private final GzipHeader gzip = new GzipHeader();
    private @Nullable Inflaters loop; // where the inflater comes from
    private @Nullable Inflater inflater; // null before the first byte of data
    private Part part = Part.HEADER;
    private int at; // number of bytes read of a header or trailer
    private long gathered; // these bytes, the last one in the lowest place
    private long length; // output of the current member

    ZlibDecompressor(ContentCoding coding) {
        this.coding = coding;
        this.isGzip = coding == ContentCoding.GZIP;
        this.sum = coding.newChecksum();
    }

    @Override
    public @Nullable Failure decompress(ByteBuf in, ByteBuf out) {
        String why = null;
        boolean more = true;
        while (why == null && more) {
            Part before = part;
            why = switch (part) {
                case HEADER -> readHeader(in);
                case DATA -> inflate(in, out);
                case TRAILER -> readTrailer(in);
                case END -> in.isReadable() ? beginMember() : null;
            };
            more = part != before;
        }
        return why == null ? null : coding.invalid(why);
    }

    @Override
    public boolean isWhole() {
        return part == Part.END;
    }

    private @Nullable String readHeader(ByteBuf in) {
        if (isGzip) {
            if (gzip.read(in)) {
                part = Part.DATA;
            }
            return gzip.isInvalid() ? "a header is wrong" : null;
        }
        if (gather(in, ZLIB_HEADER)) {
            int method = (int) gathered >> Byte.SIZE; // RFC 1950, section 2.2
            boolean deflate = (method & 0x0f) == 8 && method >> 4 <= 7;
            boolean dictionary = (gathered & 0x20) != 0;
            if (!deflate || dictionary || gathered % 31 != 0) {
                return "the header is wrong";
            }
            startPart(Part.DATA);
        }
        return null;
    }

    /** Reads bytes into {@link #gathered}; returns whether all of them have arrived. */
    private boolean gather(ByteBuf in, int count) {
        while (at < count && in.isReadable()) {
            gathered = gathered << Byte.SIZE | in.readUnsignedByte();
            at++;
        }
        return at == count;
    }

    private void startPart(Part next) {
        part = next;
        at = 0;
        gathered = 0;
    }

    private @Nullable String inflate(ByteBuf in, ByteBuf out) {
        Inflater by = inflater;
        if (by == null) {
            loop = Inflaters.ofThisLoop();
            by = loop.take();
            inflater = by;
        }
        ByteBuffer source = in.nioBuffer();
        int before = source.remaining();
        by.setInput(source); // also if empty: the previous buffer may have been released
        ByteBuffer room = out.nioBuffer(out.writerIndex(), out.writableBytes());
        try {
            int written = by.inflate(room);
            in.skipBytes(before - source.remaining());
            sum.update(out.nioBuffer(out.writerIndex(), written));
            out.writerIndex(out.writerIndex() + written);
            length += written;
        } catch (DataFormatException e) {
            return "its data are wrong";
        }
        if (by.finished()) {
            startPart(Part.TRAILER);
        }
        return by.needsDictionary() ? "it needs a dictionary" : null;
    }

    private @Nullable String readTrailer(ByteBuf in) {
        if (!isGzip) {
            if (gather(in, ZLIB_TRAILER)) {
                if (gathered != sum.getValue()) {
                    return "its checksum is wrong";
                }
                startPart(Part.END);
            }
        } else if (gather(in, GZIP_TRAILER)) {
            long checksum = Integer.toUnsignedLong(Integer.reverseBytes((int) (gathered >>> Integer.SIZE)));
            if (checksum != sum.getValue() || Integer.reverseBytes((int) gathered) != (int) length) {
                return "a checksum or a length is wrong";
            }
            startPart(Part.END);
        }
        return null;
    }

    /** Bytes follow the end: with gzip, they are another member (RFC 1952, section 2.2). */
    private @Nullable String beginMember() {
        if (!isGzip) {
            return "bytes follow its end";
        }
        gzip.start();
        sum.reset();
        length = 0;
        if (inflater != null) {
            inflater.reset();
        }
        startPart(Part.HEADER);
        return null;
    }

    @Override
    public void close() {
        if (inflater != null && loop != null) {
            loop.giveBack(inflater);
            inflater = null;
        }
    }
}
