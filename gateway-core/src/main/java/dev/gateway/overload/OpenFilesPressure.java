package dev.gateway.overload;

import java.util.function.IntSupplier;

/**
 * Pressure of open files: how many of the file descriptors for clients are taken. If all are taken, new clients wait in the
 * kernel, so the gateway refuses none. But before that, it ends keep-alive. Safe from any thread.
 */
public final class OpenFilesPressure implements Pressure {
    private final IntSupplier taken;
    private final IntSupplier max;

    /** Makes it from the number of taken descriptors, and the number of all. */
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
