package dev.gateway.upstream;

/** Ramp: how far one endpoint has come in its slow start. Guarded by the health of its upstream, but for the factor. */
final class Ramp {
    private static final double LEAST = 0.1;

    private volatile double factor = 1;
    private long since; // nanoseconds; of use while the factor is less than 1

    /** Returns which part of its share the endpoint gets; 1 for all. */
    double factor() {
        return factor;
    }

    /** Begins with the least part. */
    void begin(long now) {
        since = now;
        factor = LEAST;
    }

    /** Gives it more; returns whether it was on its way. */
    boolean advance(long window, long now) {
        if (factor == 1) {
            return false;
        }
        long passed = now - since;
        factor = passed >= window ? 1 : Math.max(LEAST, (double) passed / window);
        return true;
    }

    /** Goes on where another one is. */
    void inherit(Ramp before) {
        double reached = before.factor; // first, as it is written last
        since = before.since;
        factor = reached;
    }
}
