package dev.gateway.upstream;

/** Ramp: the progress of one endpoint in its slow start. Guarded by the health of its upstream, except the factor. */
final class Ramp {
    private static final double LEAST = 0.1;

    private volatile double factor = 1;
    private long since; // nanoseconds; valid while the factor is less than 1

    /** Returns which part of its share the endpoint gets; 1 for all. */
    double factor() {
        return factor;
    }

    /** Begins with the smallest factor. */
    void begin(long now) {
        since = now;
        factor = LEAST;
    }

    /** Raises the factor with time; returns whether the slow start was still in progress. */
    boolean advance(long window, long now) {
        if (factor == 1) {
            return false;
        }
        long passed = now - since;
        factor = passed >= window ? 1 : Math.max(LEAST, (double) passed / window);
        return true;
    }

    /** Continues the slow start of the endpoint in the previous generation. */
    void inherit(Ramp before) {
        double reached = before.factor; // read first, because begin() writes it last
        since = before.since;
        factor = reached;
    }
}
