package dev.gateway.filter.body;

import org.jspecify.annotations.Nullable;

/**
 * Compressors and decompressors of each coding. Touches the classes of an optional library only for its coding, and expects
 * that {@link #load} has found it. No state.
 */
public final class Codecs {
    private Codecs() {}

    /**
     * Loads the library of the coding, if it has one. Call it before a filter uses the coding, and not on an event loop: it
     * reads files.
     *
     * @return what is missing, and what to do; null if the coding can be used
     */
    public static @Nullable String load(ContentCoding coding) {
        return switch (coding) {
            case GZIP, DEFLATE -> null;
            case BR -> CodecLibraries.loadBrotli();
            case ZSTD -> CodecLibraries.loadZstd();
        };
    }

    /** Returns the memory of one compressor, in bytes; the level is from 1 to 9. */
    static long compressorBytes(ContentCoding coding, int level) {
        return switch (coding) {
            case GZIP, DEFLATE -> Deflaters.BYTES;
            case BR -> BrotliCompressor.bytes(level);
            case ZSTD -> ZstdCompressor.BYTES;
        };
    }

    /** Creates a compressor; the level is from 1, which is fast, to 9. The caller closes it. */
    static Compressor newCompressor(ContentCoding coding, int level) {
        return switch (coding) {
            case GZIP, DEFLATE -> new ZlibCompressor(coding, level);
            case BR -> new BrotliCompressor(level);
            case ZSTD -> new ZstdCompressor(level);
        };
    }

    /** Returns the memory of one decompressor before it has read anything, in bytes. */
    static long decompressorBytes(ContentCoding coding) {
        return switch (coding) {
            case GZIP, DEFLATE -> Inflaters.BYTES;
            case BR -> BrotliDecompressor.BYTES;
            case ZSTD -> ZstdDecompressor.BYTES;
        };
    }

    /** Creates a decompressor. The caller closes it. */
    static Decompressor newDecompressor(ContentCoding coding, DecompressionMemory memory) {
        return switch (coding) {
            case GZIP, DEFLATE -> new ZlibDecompressor(coding);
            case BR -> new BrotliDecompressor(memory);
            case ZSTD -> new ZstdDecompressor(memory);
        };
    }
}
