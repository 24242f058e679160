package dev.gateway.filter.timing;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** How long the calls of filters of one type took, in buckets. Any thread may record and read. */
public final class FilterTimes {
    private static final double[] BOUNDS = {
        0.000_001,
        0.000_002_5,
        0.000_005,
        0.000_01,
        0.000_025,
        0.000_05,
        0.000_1,
        0.000_25,
        0.000_5,
        0.001,
        0.002_5,
        0.005,
        0.01,
        0.025,
        0.1
    };
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long[] NANOS = nanos();

    /** What a filter was called for. */
    public enum Phase {
        /** A head, or trailers, of a request. */
        REQUEST,
        /** A head, or trailers, of a response. */
        RESPONSE,
        /** A piece of a body. */
        BODY;

        private final String label = name().toLowerCase(Locale.ROOT);

        /** Returns the word for labels. */
        public String label() {
            return label;
        }
    }

    private final Map<Phase, Calls> calls = new EnumMap<>(Phase.class);

    /** Makes one that has counted nothing. */
    public FilterTimes() {
        for (Phase phase : Phase.values()) {
            calls.put(phase, new Calls());
        }
    }

    private static final class Calls {
        final LongAdder[] buckets = new LongAdder[BOUNDS.length + 1];
        final LongAdder nanos = new LongAdder();

        Calls() {
            Arrays.setAll(buckets, i -> new LongAdder());
        }
    }

    private Calls of(Phase phase) {
        return Objects.requireNonNull(calls.get(phase));
    }

    private static long[] nanos() {
        long[] nanos = new long[BOUNDS.length];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = Math.round(BOUNDS[i] * NANOS_PER_SECOND);
        }
        return nanos;
    }

    /** Records a call, in nanoseconds. */
    void record(Phase phase, long duration) {
        int bucket = 0;
        while (bucket < NANOS.length && duration > NANOS[bucket]) {
            bucket++;
        }
        Calls of = of(phase);
        of.buckets[bucket].increment();
        of.nanos.add(duration);
    }

    /** Returns the upper bounds of the buckets, in seconds. */
    public static double[] bounds() {
        return BOUNDS.clone();
    }

    /** Returns how many calls each bucket has, the last one for what is above all bounds. */
    public long[] buckets(Phase phase) {
        return Arrays.stream(of(phase).buckets).mapToLong(LongAdder::sum).toArray();
    }

    /** Returns the sum of all calls. */
    public double seconds(Phase phase) {
        return of(phase).nanos.sum() / NANOS_PER_SECOND;
    }
}
