package dev.gateway.filter.compression;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.zip.Deflater;

/** The deflaters of each event loop: of raw data, without a header. */
final class Deflaters {
    /** Native memory of one deflater: window, hash table and literals of zlib (see its zconf.h), and its other state. */
    static final int BYTES = 272 * 1024;

    private static final int MOST_IDLE = 4;

    private static final FastThreadLocal<IdleCompressors<Deflater>> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected IdleCompressors<Deflater> initialValue() {
            return new IdleCompressors<>(MOST_IDLE, level -> new Deflater(level, true), Deflater::reset, Deflater::end);
        }

        @Override
        protected void onRemoval(IdleCompressors<Deflater> all) {
            all.end();
        }
    };

    private Deflaters() {}

    /** Returns those of the current event loop. */
    static IdleCompressors<Deflater> ofThisLoop() {
        return OF_THIS_LOOP.get();
    }
}
