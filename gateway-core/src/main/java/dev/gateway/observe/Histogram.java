package dev.gateway.observe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** How long things took, in buckets, of one event loop: its thread records, any thread reads. */
public final class Histogram {
    /** Upper bounds in seconds: OpenTelemetry's, and finer ones below 5 ms, where a proxy is judged. */
    public static final double[] REQUEST_SECONDS = {
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5,
        7.5, 10
    };

    /** Upper bounds in seconds for what lives longer, such as making connections. */
    public static final double[] CONNECTION_SECONDS = {
        0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 300
    };

    /** Upper bounds in seconds for what there are many of: enough to tell a slow endpoint from the others. */
    public static final double[] ENDPOINT_SECONDS = {0.005, 0.025, 0.1, 0.5, 2.5, 10};

    private static final double NANOS_PER_SECOND = 1e9;
    private static final VarHandle EXAMPLE = MethodHandles.arrayElementVarHandle(Example[].class);

    /** A request that is one of those in a bucket, with its trace. */
    public record Example(TraceLink trace, double seconds, long epochMillis) {}

    private final double[] bounds;
    private final long[] nanos;
    private final @Nullable Example[] examples; // the last one of each bucket
    private final Counts counts; // one for each bound, one for what is above, then the sum in nanoseconds

    public Histogram(double[] bounds) {
        this.bounds = bounds;
        nanos = new long[bounds.length];
        examples = new @Nullable Example[bounds.length + 1];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = Math.round(bounds[i] * NANOS_PER_SECOND);
        }
        counts = new Counts(bounds.length + 2);
    }

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

    public double[] bounds() {
        return bounds;
    }

    /** Adds what was counted to a sum of several loops: one element for each bound, and one for what is above. */
    public void addTo(long[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += counts.get(i);
        }
    }

    public double sumSeconds() {
        return counts.get(nanos.length + 1) / NANOS_PER_SECOND;
    }
}
