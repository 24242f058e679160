package dev.gateway.listener.limit;

import dev.gateway.stream.ClientNetwork;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Counts the connections of a listener on all event loops. A lone client may have all of them. When another client finds no
 * room, unused connections of the client that has most give way, down to an equal share, and clients with more than that get no
 * new ones for a while. Used only when a connection opens or closes.
 */
public final class ConnectionLimit implements Admission {
    /** How long clients with more than an equal share get no new connections after another one found no room. */
    private static final long CROWDED_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** This part of the limit (a sixteenth) may be open beyond it, while others are asked to give way. */
    private static final int BEYOND = 16;

    private volatile int max; // a reload may change it
    private final LongSupplier clock;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger replacing = new AtomicInteger(); // accepted beyond the limit, and not counted yet
    private final ClientConnections clients = new ClientConnections();
    private final ConnectionShares shares = new ConnectionShares();
    private final List<Loop> loops = new CopyOnWriteArrayList<>();
    private volatile long crowdedUntil;

    /** Makes a limit; 0 means no limit. */
    public ConnectionLimit(int max) {
        this(max, System::nanoTime);
    }

    ConnectionLimit(int max, LongSupplier clock) {
        this.max = max;
        this.clock = clock;
        this.crowdedUntil = clock.getAsLong();
    }

    @Override
    public void join(Loop loop) {
        loops.add(loop);
    }

    @Override
    public void change(int maxConnections, int maxConnectionsPerAddress) {
        max = maxConnections;
    }

    @Override
    public boolean tryAcquire(Candidate connection) {
        int limit = max;
        if (open.incrementAndGet() <= limit || limit == 0) {
            replacing.set(0);
            return true;
        }
        if (replacing.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return true;
        }
        open.decrementAndGet();
        return false;
    }

    /** At least one for the first client that finds no room. */
    private static int beyond(int limit) {
        return Math.max(1, limit / BEYOND);
    }

    @Override
    public boolean isFull() {
        int limit = max;
        return limit > 0 && open.get() >= limit;
    }

    @Override
    public boolean replaces(ClientNetwork client) {
        int limit = max;
        long now = clock.getAsLong();
        ConnectionShares.Holder most = shares.givesWayTo(client, limit, now);
        if (most == null) {
            return false;
        }
        crowdedUntil = now + CROWDED_NANOS;
        if (!most.inUse()) {
            loops.forEach(loop -> loop.giveWaySoon(most.client()));
        }
        boolean admitted = open.get() + replacing.get() < limit + beyond(limit);
        if (admitted) {
            replacing.incrementAndGet();
        }
        return admitted;
    }

    @Override
    public void onAllInUse(ClientNetwork client, Loop loop) {
        shares.onAllInUse(client, loop, loops.size(), clock.getAsLong());
    }

    @Override
    public boolean tryShare(ClientNetwork client) {
        return shares.tryAcquire(client, isCrowded() ? max : 0);
    }

    private boolean isCrowded() {
        return crowdedUntil - clock.getAsLong() > 0;
    }

    @Override
    public void releaseShare(ClientNetwork client) {
        shares.release(client);
    }

    @Override
    public void onRequest(Candidate connection) {}

    @Override
    public void release(Candidate connection) {
        open.decrementAndGet();
    }

    @Override
    public boolean tryAcquire(ClientNetwork client, int most) {
        return clients.tryAcquire(client, most);
    }

    @Override
    public boolean isFull(ClientNetwork client, int most) {
        return clients.open(client) >= most;
    }

    @Override
    public void release(ClientNetwork client) {
        clients.release(client);
    }

    @Override
    public int open() {
        return open.get();
    }
}
