package dev.gateway.overload;

import dev.gateway.config.OverloadConfig;
import dev.gateway.format.Durations;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * Pressure of event-loop lag: how long a task waits for an event loop, compared with a limit. It takes the shortest of
 * several waits in a row (a standing queue, as in CoDel), so that a single long wait, such as for a garbage collection,
 * does not count. Used by one thread; loops only record the time.
 */
public final class LagPressure implements Pressure {
    /** The level of a loop whose lag is just the limit. */
    static final double LIMIT = 0.85;

    /** Each further multiple of the limit adds this to the level. */
    private static final double STEP = 0.07;

    private static final int PROBES = 5;
    private static final double NANOS_PER_MILLI = 1e6;

    private final List<Probe> probes;
    private final LongSupplier nanoTime;
    private long lagMillis; // at the last check
    private volatile long limitMillis = Durations.millis(OverloadConfig.DEFAULT.lag());

    /** Watches these event loops. */
    public LagPressure(List<? extends Executor> loops) {
        this(loops, System::nanoTime);
    }

    LagPressure(List<? extends Executor> loops, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.probes = loops.stream().map(Probe::new).toList();
    }

    @Override
    public Resource resource() {
        return Resource.LAG;
    }

    @Override
    public boolean isEasedByClosing() {
        return false; // a client that must connect again takes more time, not less
    }

    @Override
    public void configure(OverloadConfig settings) {
        limitMillis = Durations.millis(settings.lag());
    }

    @Override
    public double level() {
        long limit = limitMillis;
        if (limit == 0) {
            return 0;
        }
        double lag = 0;
        for (Probe each : probes) {
            lag = Math.max(lag, each.lag() / NANOS_PER_MILLI);
        }
        lagMillis = Math.round(lag);
        double times = lag / limit;
        return times <= 1 ? LIMIT * times : Math.min(1, LIMIT + STEP * (times - 1));
    }

    /** Returns the lag in milliseconds, because the level has a scale that is only useful for comparison. */
    @Override
    public String text(double level) {
        return lagMillis + " ms";
    }

    /** Measures one loop. */
    private final class Probe {
        private final Executor loop;
        private final long[] lags = new long[PROBES]; // a ring
        private int count;
        private long askedNanos;
        private boolean owed;
        private volatile long answeredNanos;
        private volatile boolean answered = true;

        Probe(Executor loop) {
            this.loop = loop;
        }

        /** Returns the shortest of the last waits, including the current one, and begins another if that has ended. */
        long lag() {
            long now = nanoTime.getAsLong();
            boolean back = answered;
            if (owed && back) {
                lags[count++ % PROBES] = answeredNanos - askedNanos;
                owed = false;
            }
            long shortest = Arrays.stream(lags).min().orElse(0);
            if (owed && count >= PROBES - 1) {
                long others = shortestBut(count % PROBES);
                shortest = Math.max(shortest, Math.min(others, now - askedNanos));
            }
            if (!owed) {
                ask(now);
            }
            return shortest;
        }

        /** Returns the shortest wait without the oldest one, which the current wait will replace. */
        private long shortestBut(int oldest) {
            long shortest = Long.MAX_VALUE;
            for (int i = 0; i < PROBES; i++) {
                shortest = i == oldest ? shortest : Math.min(shortest, lags[i]);
            }
            return shortest;
        }

        private void ask(long now) {
            askedNanos = now;
            owed = true;
            answered = false;
            try {
                loop.execute(() -> {
                    answeredNanos = nanoTime.getAsLong();
                    answered = true;
                });
            } catch (RejectedExecutionException e) { // the loop has ended
                answeredNanos = now;
                answered = true;
            }
        }
    }
}
