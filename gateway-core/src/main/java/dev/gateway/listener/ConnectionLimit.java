package dev.gateway.listener;

import dev.gateway.stream.ClientNetwork;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the connections of a listener on all event loops. Used only when a connection opens or closes. */
final class ConnectionLimit implements Admission {
    private volatile int max; // a reload may change it
    private final AtomicInteger open = new AtomicInteger();
    private final ClientConnections clients = new ClientConnections();

    /** Makes a limit; 0 means no limit. */
    ConnectionLimit(int max) {
        this.max = max;
    }

    @Override
    public void change(ListenerSettings settings) {
        max = settings.limits().maxConnections();
    }

    @Override
    public boolean tryAcquire(Candidate connection) {
        int limit = max;
        if (open.incrementAndGet() > limit && limit > 0) {
            open.decrementAndGet();
            return false;
        }
        return true;
    }

    @Override
    public boolean isFull() {
        int limit = max;
        return limit > 0 && open.get() >= limit;
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
