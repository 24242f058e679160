package dev.gateway.observe;

/** How long things took, in buckets, of one event loop: its thread records, any thread reads. */
final class Histogram {
    /** Upper bounds in seconds: OpenTelemetry's, and finer ones below 5 ms, where a proxy is judged. */
    static final double[] REQUEST_SECONDS = {
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5,
        7.5, 10
    };

    /** Upper bounds in seconds for what lives longer, such as making connections. */
    static final double[] CONNECTION_SECONDS = {
        0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 300
    };

    private static final double NANOS_PER_SECOND = 1e9;

    private final double[] bounds;
    private final long[] nanos;
    private final Counts counts; // one for each bound, one for what is above, then the sum in nanoseconds

    Histogram(double[] bounds) {
        this.bounds = bounds;
        nanos = new long[bounds.length];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = Math.round(bounds[i] * NANOS_PER_SECOND);
        }
        counts = new Counts(bounds.length + 2);
    }

    void record(long duration) {
        int bucket = 0;
        while (bucket < nanos.length && duration > nanos[bucket]) {
            bucket++;
        }
        counts.add(bucket, 1);
        counts.add(nanos.length + 1, duration);
    }

    double[] bounds() {
        return bounds;
    }

    /** Adds what was counted to a sum of several loops: one element for each bound, and one for what is above. */
    void addTo(long[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += counts.get(i);
        }
    }

    double sumSeconds() {
        return counts.get(nanos.length + 1) / NANOS_PER_SECOND;
    }
}
