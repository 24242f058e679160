package dev.gateway.observe.counts;

import dev.gateway.observe.trace.TraceLink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Latency histogram. How long things took, in buckets, of one event loop: its thread records, any thread reads. */
public final class Histogram {
    /** The upper bounds of buckets. */
    public enum Buckets {
        /** Of requests: OpenTelemetry's, and finer ones below 5 ms, where a proxy is judged. */
        REQUEST(
                0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1,
                2.5, 5, 7.5, 10),
        /** Of what lives longer, such as making connections. */
        CONNECTION(0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 300),
        /** Of what there are many of: enough to tell a slow endpoint from the others. */
        ENDPOINT(0.005, 0.025, 0.1, 0.5, 2.5, 10);

        private final double[] seconds;

        Buckets(double... seconds) {
            this.seconds = seconds;
        }

        /** Returns the bounds in seconds, in ascending order. */
        public double[] seconds() {
            return seconds.clone();
        }

        /** Returns how many buckets there are: one for each bound, and one for what is above. */
        public int count() {
            return seconds.length + 1;
        }
    }

    private static final double NANOS_PER_SECOND = 1e9;
    private static final VarHandle EXAMPLE = MethodHandles.arrayElementVarHandle(Example[].class);

    /** A request that is one of those in a bucket, with its trace. */
    public record Example(TraceLink trace, double seconds, long epochMillis) {}

    private final double[] bounds;
    private final long[] nanos;
    private final @Nullable Example[] examples; // the last one of each bucket
    private final Counts counts; // one for each bound, one for what is above, then the sum in nanoseconds

    /** Makes one that has counted nothing. */
    public Histogram(Buckets buckets) {
        bounds = buckets.seconds();
        nanos = new long[bounds.length];
        examples = new @Nullable Example[bounds.length + 1];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = Math.round(bounds[i] * NANOS_PER_SECOND);
        }
        counts = new Counts(bounds.length + 2);
    }

    /** Records a duration in nanoseconds. */
    public void record(long duration) {
        counts.add(bucket(duration), 1);
        counts.add(nanos.length + 1, duration);
    }

    /** Records a duration of which there is a trace, if there is one. */
    public void record(long duration, @Nullable TraceLink trace) {
        record(duration);
        if (trace != null) {
            Example example = new Example(trace, duration / NANOS_PER_SECOND, System.currentTimeMillis());
            EXAMPLE.setRelease(examples, bucket(duration), example);
        }
    }

    private int bucket(long duration) {
        int bucket = 0;
        while (bucket < nanos.length && duration > nanos[bucket]) {
            bucket++;
        }
        return bucket;
    }

    /** Keeps the last example of each bucket, of this histogram or of another with the same bounds. */
    public void addExamplesTo(@Nullable Example[] latest) {
        for (int i = 0; i < latest.length; i++) {
            Example here = (Example) EXAMPLE.getAcquire(examples, i);
            Example other = latest[i];
            if (here != null && (other == null || other.epochMillis < here.epochMillis)) {
                latest[i] = here;
            }
        }
    }

    /** Returns the upper bounds of its buckets, in seconds. */
    public double[] bounds() {
        return bounds.clone();
    }

    /** Adds what was counted to a sum of several loops: one element for each bound, and one for what is above. */
    public void addTo(long[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += counts.get(i);
        }
    }

    /** Returns the sum of all durations. */
    public double sumSeconds() {
        return counts.get(nanos.length + 1) / NANOS_PER_SECOND;
    }
}
