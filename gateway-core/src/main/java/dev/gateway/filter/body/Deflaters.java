package dev.gateway.filter.body;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * Compressors of one event loop, a few of which are kept for the next responses: each takes much native memory, which is
 * slow to get. One for each loop, used by it only.
 */
final class Deflaters {
    /** What one takes of native memory: zlib's windows, hash table and literals (its zconf.h), and the rest of it. */
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

    /** Returns those of the event loop that calls. */
    static Deflaters ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** Returns one that has compressed nothing yet, and makes data without a header; the caller gives it back. */
    Deflater take(int level) {
        ArrayDeque<Deflater> ofLevel = idle[level];
        Deflater found = ofLevel == null ? null : ofLevel.poll();
        if (found == null) {
            return new Deflater(level, true);
        }
        kept--;
        return found;
    }

    /** Takes one back, wherever it stopped. */
    void giveBack(Deflater deflater, int level) {
        if (kept == MOST_IDLE) {
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

    private void end() {
        for (ArrayDeque<Deflater> ofLevel : idle) {
            if (ofLevel != null) {
                ofLevel.forEach(Deflater::end);
                ofLevel.clear();
            }
        }
        kept = 0;
    }

    /** Returns how many are kept. */
    int kept() {
        return kept;
    }
}
