package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.FineHistogram;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How many requests there were in the last seconds and how long they took, by listener, route and upstream: samples of
 * what is counted, one in two seconds. Only the first thousand routes that are seen have a window of their own, which
 * bounds the memory for all samples to some 4 MB. Safe from any thread but event loops.
 */
final class RecentRequests {
    private static final int EVERY = 2; // seconds
    private static final int SAMPLES = 5;
    private static final int MOST_ROUTES = 1000;

    /** What has a window of its own: a listener, a route of one, or an upstream; the other names are empty. */
    record Key(String listener, String route, String upstream) {
        static Key ofListener(String name) {
            return new Key(name, "", "");
        }

        /** The slash keeps requests without a route apart from their listener's. */
        static Key ofRoute(String listener, String route) {
            return new Key(listener, "/" + route, "");
        }

        static Key ofUpstream(String name) {
            return new Key("", "", name);
        }

        boolean isListener() {
            return upstream.isEmpty() && route.isEmpty();
        }
    }

    private record Sample(long nanos, Map<Key, int[]> buckets) {}

    private final List<LoopMetrics> loops;
    private final Deque<Sample> samples = new ArrayDeque<>(); // guarded by this
    private final Set<Key> routes = ConcurrentHashMap.newKeySet();
    private final long startNanos = System.nanoTime();
    private int seconds; // guarded by this

    RecentRequests(List<LoopMetrics> loops) {
        this.loops = loops;
    }

    /** What was sampled, and what there was since. */
    record Window(double seconds, Map<Key, int[]> buckets) {
        /** Returns the buckets of {@link FineHistogram}; null if it has no window of its own. */
        int @Nullable [] of(Key key) {
            return buckets.get(key);
        }

        /** Returns the sum of all listeners. */
        int[] ofAll() {
            int[] sum = new int[FineHistogram.BUCKETS];
            buckets.forEach((key, counts) -> {
                for (int i = 0; key.isListener() && i < sum.length; i++) {
                    sum[i] += counts[i];
                }
            });
            return sum;
        }
    }

    /** Takes a sample if it is time for one; called once a second. */
    synchronized void sample() {
        if (seconds++ % EVERY != 0) {
            return;
        }
        Map<Key, int[]> counted = counted();
        Sample last = samples.peekLast();
        if (last != null) {
            counted.replaceAll((key, now) -> { // what is idle takes no memory again
                int[] before = last.buckets.get(key);
                return before != null && Arrays.equals(before, now) ? before : now;
            });
        }
        samples.addLast(new Sample(System.nanoTime(), counted));
        if (samples.size() > SAMPLES) {
            samples.removeFirst();
        }
    }

    /** Returns how many requests took how long since the oldest sample. */
    Window window() {
        Sample oldest = oldest();
        Map<Key, int[]> now = counted();
        long since = oldest == null ? startNanos : oldest.nanos;
        if (oldest != null) {
            now.forEach((key, buckets) -> {
                int[] before = oldest.buckets.get(key);
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

    private Map<Key, int[]> counted() {
        Map<Key, int[]> counted = new HashMap<>();
        for (LoopMetrics loop : loops) {
            loop.listeners().forEach((name, meters) -> {
                add(counted, Key.ofListener(name), meters.recent);
                meters.routes().forEach((route, counts) -> {
                    Key key = Key.ofRoute(name, route);
                    if (routes.contains(key) || (routes.size() < MOST_ROUTES && routes.add(key))) {
                        add(counted, key, counts.recent);
                    }
                });
            });
            loop.upstreams().forEach((name, meters) -> add(counted, Key.ofUpstream(name), meters.recent));
        }
        return counted;
    }

    private static void add(Map<Key, int[]> counted, Key key, FineHistogram recent) {
        recent.addTo(counted.computeIfAbsent(key, k -> new int[FineHistogram.BUCKETS]));
    }
}
