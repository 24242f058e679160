package dev.gateway.listener.limit;

import dev.gateway.stream.ClientNetwork;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides few connections fairly among client addresses, for a listener that each client must reach at any time, such as
 * the one for probes. If there is no room, a new connection replaces another one. That is a connection of the address that
 * has most: the oldest one without a request, else the oldest. No connection closes for an address that has as many itself.
 * So an address without connections is always admitted, unless other addresses have one connection each, use up all, and
 * have sent requests. The number of connections that are being closed is bounded, too: for each address, and in total. The
 * last part of the total is for addresses without connections. So an address that connects faster than its event loop
 * closes does not lock out others. Few connections use it, so a lock is fast enough.
 */
public final class FairShares implements Admission {
    private static final Logger log = LoggerFactory.getLogger(FairShares.class);
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** This part (a quarter) of the connections that may be closing at a time. */
    private static final int RESERVED_FOR_NEW_ADDRESSES = 4;

    private final Map<ClientNetwork, Held> held = new HashMap<>();
    private final String listener;
    private int maxConnections;
    private int maxConnectionsPerAddress;
    private int open; // without those that are being closed
    private int closing;
    private boolean told;
    private long toldNanos;

    /** The connections of one address, the oldest first. */
    private static final class Held {
        final Set<Candidate> silent = new LinkedHashSet<>();
        final Set<Candidate> others = new LinkedHashSet<>(); // those that have sent a request
        int closing;

        /** Returns how many are open, without those that are being closed. */
        int count() {
            return silent.size() + others.size();
        }

        boolean isEmpty() {
            return count() == 0 && closing == 0;
        }

        boolean remove(Candidate connection) {
            return silent.remove(connection) || others.remove(connection);
        }
    }

    /**
     * Makes it for a listener of this name.
     *
     * @param maxConnections of all addresses
     * @param maxConnectionsPerAddress of each address
     */
    public FairShares(String listener, int maxConnections, int maxConnectionsPerAddress) {
        this.listener = listener;
        this.maxConnections = maxConnections;
        this.maxConnectionsPerAddress = maxConnectionsPerAddress;
    }

    @Override
    public synchronized void change(int most, int mostPerAddress) {
        maxConnections = most;
        maxConnectionsPerAddress = mostPerAddress;
    }

    @Override
    public synchronized boolean tryAcquire(Candidate connection) {
        Held own = held.computeIfAbsent(connection.network(), network -> new Held());
        boolean admitted = mayClose(own) && makeRoom(own);
        if (admitted) {
            own.silent.add(connection);
            open++;
        } else if (own.isEmpty()) {
            held.remove(connection.network());
        }
        return admitted;
    }

    /** Whether it may close another connection for one of this address, although some are still being closed. */
    private boolean mayClose(Held own) {
        return own.isEmpty()
                ? closing < maxConnections
                : own.closing < maxConnectionsPerAddress
                        && closing < maxConnections - maxConnections / RESERVED_FOR_NEW_ADDRESSES;
    }

    private boolean makeRoom(Held own) {
        if (own.count() >= maxConnectionsPerAddress) {
            return close(oldest(own.silent));
        }
        if (open < maxConnections) {
            return true;
        }
        Held most =
                held.values().stream().max(Comparator.comparingInt(Held::count)).orElseThrow();
        if (!most.silent.isEmpty()) {
            return close(oldest(most.silent));
        }
        return most.count() > own.count() + 1 && close(oldest(most.others));
    }

    private static @Nullable Candidate oldest(Set<Candidate> connections) {
        Iterator<Candidate> each = connections.iterator();
        return each.hasNext() ? each.next() : null;
    }

    private boolean close(@Nullable Candidate oldest) {
        if (oldest == null) {
            return false;
        }
        tell(oldest.network());
        Held of = held.get(oldest.network());
        if (of == null || !of.remove(oldest)) {
            throw new IllegalStateException("not counted: " + oldest.network());
        }
        open--;
        of.closing++;
        closing++;
        oldest.closeSoon();
        return true;
    }

    private void tell(ClientNetwork network) {
        long now = System.nanoTime();
        if (!told || now - toldNanos > TELL_NANOS) {
            told = true;
            toldNanos = now;
            log.warn(
                    "listener {} has no room for all connections (open: {}); it closes the oldest of {}",
                    listener,
                    open,
                    network);
        }
    }

    @Override
    public boolean isFull() {
        return false; // another connection may make room
    }

    @Override
    public synchronized void onRequest(Candidate connection) {
        Held of = held.get(connection.network());
        if (of != null && of.silent.remove(connection)) {
            of.others.add(connection);
        }
    }

    @Override
    public synchronized void release(Candidate connection) {
        Held of = Objects.requireNonNull(held.get(connection.network()), "not counted");
        if (of.remove(connection)) {
            open--;
        } else {
            of.closing--;
            closing--;
        }
        if (of.isEmpty()) {
            held.remove(connection.network());
        }
    }

    /** Always admits: each address has its share already. */
    @Override
    public boolean tryAcquire(ClientNetwork client, int max) {
        return true;
    }

    @Override
    public boolean isFull(ClientNetwork client, int max) {
        return false;
    }

    @Override
    public void release(ClientNetwork client) {}

    @Override
    public synchronized int open() {
        return open + closing;
    }
}
