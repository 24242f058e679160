package dev.gateway.filter.decompression;

import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;

/**
 * Decompressors of each coding. Touches the classes of an optional library only for its coding, and expects that
 * {@link CodecLibraries} has found it. No state.
 */
final class Decompressors {
    private Decompressors() {}

    /** Returns the memory of one decompressor before it has read anything, in bytes. */
    static long bytes(ContentCoding coding) {
        return switch (coding) {
            case GZIP, DEFLATE -> Inflaters.BYTES;
            case BR -> BrotliDecompressor.BYTES;
            case ZSTD -> ZstdDecompressor.BYTES;
        };
    }

    /** Creates a decompressor. The caller closes it. */
    static Decompressor create(ContentCoding coding, DecompressionMemory memory) {
        return switch (coding) {
            case GZIP, DEFLATE -> new ZlibDecompressor(coding);
            case BR -> new BrotliDecompressor(memory);
            case ZSTD -> new ZstdDecompressor(memory);
        };
    }
}
