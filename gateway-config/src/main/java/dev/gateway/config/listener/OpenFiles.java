package dev.gateway.config.listener;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * File descriptor limit. How many files this process may open, and what follows for clients: each needs two, one of them to
 * an upstream.
 */
public final class OpenFiles {
    private static final int MOST_CLIENTS = 50_000;

    private OpenFiles() {}

    /** Returns the limit of this process ({@code ulimit -n}), 0 if it is not known. */
    public static long limit() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? Math.max(0, unix.getMaxFileDescriptorCount())
                : 0;
    }

    /** Returns how many clients a listener takes at once if nothing is said. */
    public static int forClients() {
        return forClients(limit());
    }

    static int forClients(long limit) {
        return limit == 0 ? MOST_CLIENTS : (int) Math.max(1, Math.min(MOST_CLIENTS, limit / 2));
    }
}
