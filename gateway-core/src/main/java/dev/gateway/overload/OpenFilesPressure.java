package dev.gateway.overload;

import java.util.function.IntSupplier;

/**
 * Pressure of open files: how many of the file descriptors for clients are taken. Those who come when all are wait in the
 * kernel, so nobody is refused for it; but connections that are kept open for nothing are given up before. Safe from any
 * thread.
 */
public final class OpenFilesPressure implements Pressure {
    private final IntSupplier taken;
    private final IntSupplier max;

    /** Makes it of how many are taken, and how many there are. */
    public OpenFilesPressure(IntSupplier taken, IntSupplier max) {
        this.taken = taken;
        this.max = max;
    }

    @Override
    public Resource resource() {
        return Resource.OPEN_FILES;
    }

    @Override
    public boolean isEasedByRefusing() {
        return false;
    }

    @Override
    public double level() {
        return Math.min(1, (double) taken.getAsInt() / Math.max(1, max.getAsInt()));
    }
}
