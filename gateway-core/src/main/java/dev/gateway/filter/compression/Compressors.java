package dev.gateway.filter.compression;

import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;

/**
 * Compressors of each coding. Touches the classes of an optional library only for its coding, and expects that
 * {@link CodecLibraries} has found it. No state.
 */
final class Compressors {
    private Compressors() {}

    /** Returns the memory of one compressor, in bytes; the level is from 1 to 9. */
    static long bytes(ContentCoding coding, int level) {
        return switch (coding) {
            case GZIP, DEFLATE -> Deflaters.BYTES;
            case BR -> BrotliCompressor.bytes(level);
            case ZSTD -> ZstdCompressor.BYTES;
        };
    }

    /** Creates a compressor; the level is from 1, which is fast, to 9. The caller closes it. */
    static Compressor create(ContentCoding coding, int level) {
        return switch (coding) {
            case GZIP, DEFLATE -> new ZlibCompressor(coding, level);
            case BR -> new BrotliCompressor(level);
            case ZSTD -> new ZstdCompressor(level);
        };
    }
}
