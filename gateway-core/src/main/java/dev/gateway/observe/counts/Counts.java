package dev.gateway.observe.counts;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counter array. Counters of one event loop: its thread adds, any thread reads. Opaque access is all that takes: a counter
 * is read whole and grows in view of every reader, at the price of a plain addition.
 */
public final class Counts {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] values;

    /** Makes so many counters, at zero. */
    public Counts(int size) {
        values = new long[size];
    }

    /** Adds to a counter; called by one thread. */
    public void add(int i, long n) {
        ELEMENT.setOpaque(values, i, (long) ELEMENT.getOpaque(values, i) + n);
    }

    /** Returns what a counter has come to; any thread may ask. */
    public long get(int i) {
        return (long) ELEMENT.getOpaque(values, i);
    }
}
