package dev.gateway.overload.memory;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Client shares: the memory of each client that is connected or has a request. A client may hold at most as much of a budget
 * as is left for all others, which {@link Account} checks. So a single client has half of it, and leaves the rest to whom
 * comes next. Safe from any thread; used when a connection opens or closes, and for requests that a trusted proxy passes on.
 */
public final class ClientShares {
    private final ConcurrentHashMap<Object, ClientMemory> clients = new ConcurrentHashMap<>();

    /**
     * A connection or a request of a client begins.
     *
     * @param client such as its network address; equal for everything that is added up
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // the map lets one thread at a time do it
    public ClientMemory enter(Object client) {
        ClientMemory entered = clients.compute(client, (key, known) -> {
            ClientMemory memory = known == null ? new ClientMemory(key) : known;
            memory.users++;
            return memory;
        });
        return entered;
    }

    /** That connection or request has ended; what it still holds counts until it is released. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // as above
    public void leave(ClientMemory memory) {
        clients.computeIfPresent(memory.client(), (key, known) -> --known.users == 0 ? null : known);
    }

    /** Returns how many clients there are. */
    public int size() {
        return clients.size();
    }
}
