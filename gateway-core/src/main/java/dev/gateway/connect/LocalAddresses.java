package dev.gateway.connect;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Local addresses: the addresses of this machine's interfaces. Asked by any event loop, which never waits for the system:
 * what is known is at most some seconds old once it is being asked for, and is read again elsewhere.
 */
public final class LocalAddresses {
    private static final Logger log = LoggerFactory.getLogger(LocalAddresses.class);
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Supplier<Set<InetAddress>> reader;
    private final LongSupplier nanoClock;
    private final Executor executor;
    private final AtomicBoolean reading = new AtomicBoolean();
    private volatile Known known;

    private record Known(Set<InetAddress> addresses, long nanos) {}

    /** Reads the addresses for the first time. */
    public LocalAddresses(Executor executor) {
        this(LocalAddresses::read, System::nanoTime, executor);
    }

    LocalAddresses(Supplier<Set<InetAddress>> reader, LongSupplier nanoClock, Executor executor) {
        this.reader = reader;
        this.nanoClock = nanoClock;
        this.executor = executor;
        this.known = new Known(reader.get(), nanoClock.getAsLong());
    }

    boolean contains(InetAddress address) {
        Known now = known;
        if (nanoClock.getAsLong() - now.nanos > FRESH_NANOS && reading.compareAndSet(false, true)) {
            refresh();
        }
        return address.isLoopbackAddress() || address.isAnyLocalAddress() || now.addresses.contains(address);
    }

    private void refresh() {
        try {
            executor.execute(() -> {
                known = new Known(reader.get(), nanoClock.getAsLong());
                reading.set(false);
            });
        } catch (RejectedExecutionException e) {
            reading.set(false); // the next question tries again
        }
    }

    private static Set<InetAddress> read() {
        Set<InetAddress> found = new HashSet<>();
        try {
            for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                found.addAll(Collections.list(each.getInetAddresses()));
            }
        } catch (SocketException e) {
            log.warn("Cannot read the addresses of this machine: {}", e.getMessage());
        }
        return Set.copyOf(found);
    }
}
