package dev.gateway.filter.decompression;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.zip.Inflater;

/**
 * The decompressors of one event loop. Keeps a few idle ones for the next requests. Confined to the event loop.
 */
final class Inflaters {
    /** Native memory of one decompressor: the window of zlib and its other state. */
    static final int BYTES = 44 * 1024;

    private static final int MOST_IDLE = 16;

    private static final FastThreadLocal<Inflaters> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected Inflaters initialValue() {
            return new Inflaters();
        }

        @Override
        protected void onRemoval(Inflaters all) {
            all.end();
        }
    };

    private final ArrayDeque<Inflater> idle = new ArrayDeque<>(MOST_IDLE);

    /** Returns the decompressors of the current event loop. */
    static Inflaters ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** Returns a new or reset decompressor of raw data (no header). The caller gives it back. */
    Inflater take() {
        Inflater found = idle.poll();
        return found == null ? new Inflater(true) : found;
    }

    /** Takes a decompressor back, in any state. */
    void giveBack(Inflater inflater) {
        if (idle.size() == MOST_IDLE) {
            inflater.end();
        } else {
            inflater.reset();
            idle.push(inflater);
        }
    }

    private void end() {
        idle.forEach(Inflater::end);
        idle.clear();
    }

    /** Returns the number of idle ones. */
    int kept() {
        return idle.size();
    }
}
