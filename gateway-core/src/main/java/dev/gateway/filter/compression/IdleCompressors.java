package dev.gateway.filter.compression;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Idle compressors of one event loop and one library, by level where it cannot be changed. Keeps a few for the next responses, because allocating
 * their native memory is slow. Confined to the event loop.
 *
 * @param <T> what compresses
 */
final class IdleCompressors<T> {
    private static final int LEVELS = 10;

    private final int most;
    private final IntFunction<T> create;
    private final Consumer<T> reset;
    private final Consumer<T> end;
    private final @Nullable ArrayDeque<T>[] idle = newIdle(); // by level
    private int kept;

    /**
     * Creates it, empty.
     *
     * @param most how many it keeps
     * @param create makes a compressor of a level
     * @param reset prepares one, in any state, for its next body
     * @param end releases the native memory of one
     */
    IdleCompressors(int most, IntFunction<T> create, Consumer<T> reset, Consumer<T> end) {
        this.most = most;
        this.create = create;
        this.reset = reset;
        this.end = end;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type cannot be made otherwise
    private static <T> @Nullable ArrayDeque<T>[] newIdle() {
        return new ArrayDeque[LEVELS];
    }

    /** Returns a new or reset compressor. The caller gives it back. */
    T take(int level) {
        ArrayDeque<T> ofLevel = idle[level];
        T found = ofLevel == null ? null : ofLevel.poll();
        if (found == null) {
            return create.apply(level);
        }
        kept--;
        return found;
    }

    /** Takes a compressor back, in any state. */
    void giveBack(T compressor, int level) {
        if (kept == most && !dropOther(level)) {
            end.accept(compressor);
            return;
        }
        reset.accept(compressor);
        ArrayDeque<T> ofLevel = idle[level];
        if (ofLevel == null) {
            ofLevel = new ArrayDeque<>(most);
            idle[level] = ofLevel;
        }
        ofLevel.push(compressor);
        kept++;
    }

    /** Drops an idle compressor of another level, which no rule may use any more. Returns whether there is one. */
    private boolean dropOther(int level) {
        for (int i = 0; i < LEVELS; i++) {
            ArrayDeque<T> other = idle[i];
            if (i != level && other != null && !other.isEmpty()) {
                end.accept(other.removeLast());
                kept--;
                return true;
            }
        }
        return false;
    }

    /** Releases the native memory of all. */
    void end() {
        for (ArrayDeque<T> ofLevel : idle) {
            if (ofLevel != null) {
                ofLevel.forEach(end);
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
