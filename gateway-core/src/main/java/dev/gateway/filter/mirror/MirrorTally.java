package dev.gateway.filter.mirror;

import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts what becomes of the copies that a rule sends to an upstream. Safe from any thread; outlives the filter. */
public final class MirrorTally implements MirrorTarget.Tally {
    private final LongAdder begun = new LongAdder();
    private final Map<MirrorResult, LongAdder> ended = new EnumMap<>(MirrorResult.class); // filled once

    /** Begins at zero. */
    public MirrorTally() {
        for (MirrorResult result : MirrorResult.values()) {
            ended.put(result, new LongAdder());
        }
    }

    @Override
    public void onBegun() {
        begun.increment();
    }

    @Override
    public void onEnded(MirrorResult result) {
        of(result).increment();
    }

    private LongAdder of(MirrorResult result) {
        return Objects.requireNonNull(ended.get(result));
    }

    /** Returns how many copies ended so. */
    public long ended(MirrorResult result) {
        return of(result).sum();
    }

    /** Returns how many copies are in progress. */
    public long active() {
        long over = ended.values().stream().mapToLong(LongAdder::sum).sum(); // first: it never exceeds what began
        return begun.sum() - over;
    }
}
