package dev.gateway.observe;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How many requests there were in the last seconds and how long they took, by listener and route: samples of what is
 * counted, one a second. Safe from any thread but event loops.
 */
final class RecentRequests {
    private static final int SECONDS = 10;

    /** A listener and a route of it that was taken. */
    record Key(String listener, String route) {}

    private record Sample(long nanos, Map<Key, long[]> buckets) {}

    private final List<LoopMetrics> loops;
    private final Deque<Sample> samples = new ArrayDeque<>(); // guarded by this
    private final long startNanos = System.nanoTime();

    RecentRequests(List<LoopMetrics> loops) {
        this.loops = loops;
    }

    /** What was sampled, and what there was since. */
    record Window(double seconds, Map<Key, long[]> buckets) {
        double perSecond(long requests) {
            return seconds <= 0 ? 0 : Math.round(requests / seconds * 10) / 10.0;
        }
    }

    void sample() {
        Sample sample = new Sample(System.nanoTime(), counted());
        synchronized (this) {
            samples.addLast(sample);
            if (samples.size() > SECONDS) {
                samples.removeFirst();
            }
        }
    }

    /** Returns how many requests took how long, by {@link Histogram#REQUEST_SECONDS}, since the oldest sample. */
    Window window() {
        Sample oldest = oldest();
        Map<Key, long[]> now = counted();
        long since = oldest == null ? startNanos : oldest.nanos;
        if (oldest != null) {
            now.forEach((key, buckets) -> {
                long[] before = oldest.buckets.get(key);
                for (int i = 0; before != null && i < buckets.length; i++) {
                    buckets[i] -= before[i];
                }
            });
        }
        return new Window((System.nanoTime() - since) / (double) TimeUnit.SECONDS.toNanos(1), now);
    }

    private synchronized @Nullable Sample oldest() {
        return samples.peekFirst();
    }

    private Map<Key, long[]> counted() {
        Map<Key, long[]> counted = new HashMap<>();
        for (LoopMetrics loop : loops) {
            loop.listeners().forEach((listener, meters) -> meters.routes().forEach((route, counts) -> {
                long[] sum = counted.computeIfAbsent(
                        new Key(listener, route), key -> new long[Histogram.REQUEST_SECONDS.length + 1]);
                counts.addDurationsTo(sum);
            }));
        }
        return counted;
    }

    /** Returns how many are in all buckets together. */
    static long count(long[] buckets) {
        return Arrays.stream(buckets).sum();
    }

    /**
     * Returns the duration that a part of the requests did not exceed, as exactly as buckets tell it: as if those of a
     * bucket were spread evenly over it. NaN if there were none.
     */
    static double quantile(double part, long[] buckets) {
        double[] bounds = Histogram.REQUEST_SECONDS;
        double rank = part * count(buckets);
        long below = 0;
        for (int i = 0; i < bounds.length; i++) {
            if (buckets[i] > 0 && below + buckets[i] >= rank) {
                double lower = i == 0 ? 0 : bounds[i - 1];
                return lower + (bounds[i] - lower) * Math.max(0, rank - below) / buckets[i];
            }
            below += buckets[i];
        }
        return count(buckets) == 0 ? Double.NaN : bounds[bounds.length - 1];
    }
}
