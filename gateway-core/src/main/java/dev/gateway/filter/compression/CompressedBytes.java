package dev.gateway.filter.compression;

import java.util.concurrent.atomic.LongAdder;

/** Counts of the compression of one rule. They survive reloads. Shared by event loops. */
public final class CompressedBytes {
    private final LongAdder input = new LongAdder();
    private final LongAdder output = new LongAdder();
    private final LongAdder skipped = new LongAdder();

    void read(int bytes) {
        input.add(bytes);
    }

    void written(int bytes) {
        output.add(bytes);
    }

    /** A response is not compressed, because memory is short. */
    void skip() {
        skipped.increment();
    }

    /** Returns the number of bytes before compression. */
    public long input() {
        return input.sum();
    }

    /** Returns the number of bytes after compression. */
    public long output() {
        return output.sum();
    }

    /** Returns the number of responses that were not compressed, because memory was short. */
    public long skipped() {
        return skipped.sum();
    }
}
