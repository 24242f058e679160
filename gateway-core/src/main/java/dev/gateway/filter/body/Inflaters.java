package dev.gateway.filter.body;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.zip.Inflater;

/**
 * Decompressors of one event loop, a few of which are kept for the next requests. One for each loop, used by it only.
 */
final class Inflaters {
    /** What one takes of native memory: the window of zlib, and the rest of it. */
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

    /** Returns those of the event loop that calls. */
    static Inflaters ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** Returns one that has read nothing yet, and expects data without a header; the caller gives it back. */
    Inflater take() {
        Inflater found = idle.poll();
        return found == null ? new Inflater(true) : found;
    }

    /** Takes one back, wherever it stopped. */
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

    /** Returns how many are kept. */
    int kept() {
        return idle.size();
    }
}
