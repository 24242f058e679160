package dev.gateway.filter.body;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * The compressors of one event loop. Keeps a few idle ones for the next responses, because allocating their native memory
 * is slow. Confined to the event loop.
 */
final class Deflaters {
    /** Native memory of one compressor: window, hash table and literals of zlib (see its zconf.h), and its other state. */
    static final int BYTES = 272 * 1024;

    private static final int MOST_IDLE = 4;
    private static final int LEVELS = 10;

    private static final FastThreadLocal<Deflaters> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected Deflaters initialValue() {
            return new Deflaters();
        }

        @Override
        protected void onRemoval(Deflaters all) {
            all.end();
        }
    };

    private final @Nullable ArrayDeque<Deflater>[] idle = newIdle(); // by level
    private int kept;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type cannot be made otherwise
    private static @Nullable ArrayDeque<Deflater>[] newIdle() {
        return new ArrayDeque[LEVELS];
    }

    /** Returns the compressors of the current event loop. */
    static Deflaters ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** Returns a new or reset compressor of raw data (no header). The caller gives it back. */
    Deflater take(int level) {
        ArrayDeque<Deflater> ofLevel = idle[level];
        Deflater found = ofLevel == null ? null : ofLevel.poll();
        if (found == null) {
            return new Deflater(level, true);
        }
        kept--;
        return found;
    }

    /** Takes a compressor back, in any state. */
    void giveBack(Deflater deflater, int level) {
        if (kept == MOST_IDLE && !dropOther(level)) {
            deflater.end();
            return;
        }
        deflater.reset();
        ArrayDeque<Deflater> ofLevel = idle[level];
        if (ofLevel == null) {
            ofLevel = new ArrayDeque<>(MOST_IDLE);
            idle[level] = ofLevel;
        }
        ofLevel.push(deflater);
        kept++;
    }

    /** Drops an idle compressor of another level, which no rule may use any more. Returns whether there is one. */
    private boolean dropOther(int level) {
        for (int i = 0; i < LEVELS; i++) {
            ArrayDeque<Deflater> other = idle[i];
            if (i != level && other != null && !other.isEmpty()) {
                other.removeLast().end();
                kept--;
                return true;
            }
        }
        return false;
    }

    private void end() {
        for (ArrayDeque<Deflater> ofLevel : idle) {
            if (ofLevel != null) {
                ofLevel.forEach(Deflater::end);
                ofLevel.clear();
            }
        }
        kept = 0;
    }

    /** Returns the number of idle ones. */
    int kept() {
        return kept;
    }
}
