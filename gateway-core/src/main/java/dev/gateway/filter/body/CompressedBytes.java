package dev.gateway.filter.body;

import java.util.concurrent.atomic.LongAdder;

/** Counts what the compression of a rule has done, which outlives reloads. Shared by event loops. */
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

    /** There was no memory to compress a response. */
    void skip() {
        skipped.increment();
    }

    /** Returns how many bytes were compressed. */
    public long input() {
        return input.sum();
    }

    /** Returns how many bytes they have become. */
    public long output() {
        return output.sum();
    }

    /** Returns how many responses were not compressed for want of memory. */
    public long skipped() {
        return skipped.sum();
    }
}
