package dev.gateway.filter.body;

import dev.gateway.filter.BodyTransform;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Decompresses a body. Checks the format, the checksums, the size and the ratio of the sizes. Takes a decompressor from its
 * event loop's {@link Inflaters} at the first byte of data.
 */
final class Inflating implements BodyTransform {
    private static final int LARGEST = 16 * 1024;
    private static final int SMALLEST = 256;
    private static final int USUAL_RATIO = 4;

    /** The ratio does not count before: short bodies may have a high one. */
    static final int FREE = 64 * 1024;

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
    private final long maxBytes;
    private final long maxRatio;
    private final Checksum sum;
    private final GzipHeader gzip = new GzipHeader();
    private ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
    private @Nullable Inflaters loop; // where the inflater comes from
    private @Nullable Inflater inflater; // null before the first byte of data
    private Part part = Part.HEADER;
    private boolean full; // the inflater may have more output from bytes that it has read
    private int at; // number of bytes read of a header or trailer
    private long gathered; // these bytes, the last one in the lowest place
    private long read; // bytes of the whole body
    private long made; // bytes of the whole output
    private long length; // output of the current member

    /**
     * Creates the state of a body that has not begun.
     *
     * @param maxBytes maximum size of the output
     * @param maxRatio maximum ratio of output to input
     */
    Inflating(ContentCoding coding, long maxBytes, long maxRatio) {
        this.coding = coding;
        this.maxBytes = maxBytes;
        this.maxRatio = maxRatio;
        this.sum = coding.newChecksum();
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        if (in.isReadable()) {
            alloc = in.alloc();
        }
        while (in.isReadable() || full) {
            int before = in.readableBytes();
            Result result =
                    switch (part) {
                        case HEADER -> readHeader(in);
                        case DATA -> inflate(in);
                        case TRAILER -> readTrailer(in);
                        case END -> beginMember();
                    };
            read += before - in.readableBytes();
            if (result instanceof Piece piece) {
                Failure excess = excess();
                if (excess == null) {
                    return piece;
                }
                piece.data().release();
                return new Fail(excess);
            } else if (result instanceof Fail) {
                return result;
            }
        }
        boolean isWhole = part == Part.END || read == 0; // an empty body needs no coding
        return input != Input.ENDS || isWhole ? MORE : invalid("it ends too early");
    }

    private Result invalid(String why) {
        return new Fail(Failure.of(
                Cause.CLIENT_PROTOCOL_ERROR,
                "a body that is not valid " + coding.token() + ": " + why + " (Decompression)"));
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

    private Result readHeader(ByteBuf in) {
        if (coding == ContentCoding.GZIP) {
            if (gzip.read(in)) {
                part = Part.DATA;
            }
            return gzip.isInvalid() ? invalid("a header is wrong") : MORE;
        }
        if (gather(in, ZLIB_HEADER)) {
            int method = (int) gathered >> Byte.SIZE; // RFC 1950, section 2.2
            boolean deflate = (method & 0x0f) == 8 && method >> 4 <= 7;
            boolean dictionary = (gathered & 0x20) != 0;
            if (!deflate || dictionary || gathered % 31 != 0) {
                return invalid("the header is wrong");
            }
            startPart(Part.DATA);
        }
        return MORE;
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

    private Result inflate(ByteBuf in) {
        Inflater by = inflater;
        if (by == null) {
            loop = Inflaters.ofThisLoop();
            by = loop.take();
            inflater = by;
        }
        int size = Math.max(SMALLEST, Math.min(LARGEST, in.readableBytes() * USUAL_RATIO));
        ByteBuf out = alloc.directBuffer(full ? LARGEST : size, full ? LARGEST : size);
        boolean passed = false;
        try {
            ByteBuffer source = in.nioBuffer();
            int before = source.remaining();
            by.setInput(source); // also if empty: the previous buffer may have been released
            ByteBuffer room = out.nioBuffer(0, out.writableBytes());
            int written = by.inflate(room);
            in.skipBytes(before - source.remaining());
            out.writerIndex(written);
            full = !room.hasRemaining() && !by.finished();
            if (by.finished()) {
                startPart(Part.TRAILER);
            } else if (by.needsDictionary()) {
                return invalid("it needs a dictionary");
            }
            if (written == 0) {
                return MORE;
            }
            sum.update(out.nioBuffer());
            length += written;
            made += written;
            passed = true;
            return new Piece(out, false);
        } catch (DataFormatException e) {
            return invalid("its data are wrong");
        } finally {
            if (!passed) {
                out.release();
            }
        }
    }

    private Result readTrailer(ByteBuf in) {
        if (coding == ContentCoding.DEFLATE) {
            if (gather(in, ZLIB_TRAILER)) {
                if (gathered != sum.getValue()) {
                    return invalid("its checksum is wrong");
                }
                startPart(Part.END);
            }
        } else if (gather(in, GZIP_TRAILER)) {
            long checksum = Integer.toUnsignedLong(Integer.reverseBytes((int) (gathered >>> Integer.SIZE)));
            if (checksum != sum.getValue() || Integer.reverseBytes((int) gathered) != (int) length) {
                return invalid("a checksum or a length is wrong");
            }
            startPart(Part.END);
        }
        return MORE;
    }

    /** Bytes follow the end: with gzip, they are another member (RFC 1952, section 2.2). */
    private Result beginMember() {
        if (coding == ContentCoding.DEFLATE) {
            return invalid("bytes follow its end");
        }
        gzip.start();
        sum.reset();
        length = 0;
        if (inflater != null) {
            inflater.reset();
        }
        startPart(Part.HEADER);
        return MORE;
    }

    @Override
    public void close() {
        if (inflater != null && loop != null) {
            loop.giveBack(inflater);
            inflater = null;
        }
    }
}
