package dev.gateway.net.transport;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.util.function.LongSupplier;

/**
 * File descriptor limits: who may have how many of the file descriptors that the process may open. What is neither used by
 * the process itself, nor kept back for the admin listener and for surprises, is for clients by one half and for upstreams
 * by the other: so neither can leave the other, or the operator, without any. Safe from any thread.
 */
public final class Descriptors {
    private static final int SMALLEST_SHARE = 4;

    private final long limit; // 0 if it is not known, or there is none
    private final LongSupplier open;
    private final DescriptorShare clients = new DescriptorShare(Integer.MAX_VALUE);
    private final DescriptorShare upstreams = new DescriptorShare(Integer.MAX_VALUE);

    Descriptors(long limit, LongSupplier open) {
        this.limit = limit;
        this.open = open;
        settle();
    }

    /** Makes the shares of this process. */
    static Descriptors ofProcess() {
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        return system instanceof UnixOperatingSystemMXBean unix
                ? new Descriptors(unix.getMaxFileDescriptorCount(), unix::getOpenFileDescriptorCount)
                : new Descriptors(0, () -> 0);
    }

    /** Counts again what the process itself has open: to be called when that has changed, as by another configuration. */
    public void settle() {
        if (limit <= 0) {
            return;
        }
        long own = Math.max(0, open.getAsLong() - clients.taken() - upstreams.taken());
        long left = limit - own - 2L * forAdmin();
        int half = (int) Math.min(Integer.MAX_VALUE, Math.max(SMALLEST_SHARE, left / 2));
        clients.resize(half);
        upstreams.resize(half);
    }

    /** Returns how many the process may open, 0 if that is not known. */
    public long limit() {
        return limit;
    }

    /** Returns how many are kept back for the admin listener; as many are for surprises. */
    public int forAdmin() {
        return limit <= 0 ? 256 : (int) Math.max(8, Math.min(256, limit / 16));
    }

    /** Returns those for connections of clients. */
    public DescriptorShare clients() {
        return clients;
    }

    /** Returns those for connections to upstreams. */
    public DescriptorShare upstreams() {
        return upstreams;
    }
}
