package dev.gateway.listener;

import dev.gateway.listener.ListenerSettings.Access;
import dev.gateway.listener.limit.Admission;
import dev.gateway.overload.Resource;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import dev.gateway.stream.SourceAddress;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The connections of one listener on one event loop. Confined to the loop except for its constants. */
final class LoopConnections implements Admission.Loop {
    private static final Failure CUT_OFF = Failure.of(Cause.DRAIN, "it did not end in time");

    /** Maximum number of connections of a client to check for one that can make room for another, the oldest first. */
    private static final int LOOKED_AT = 1024;

    private final AtomicBoolean asked = new AtomicBoolean(); // whether giveWay is about to run
    private final ListenerLoop loop;
    private final RefusalLog refusals;
    private final Admission limit;
    private final Set<Connection> connections = new LinkedHashSet<>();
    private final Map<ClientNetwork, Set<Connection>> sharing =
            new HashMap<>(); // those that count for a client's share
    private ListenerSettingsRef settingsRef; // for new connections
    private boolean closeAnnounced;
    private @Nullable CompletableFuture<Void> drained;

    LoopConnections(ListenerLoop loop, ListenerSettings settings, Admission limit, RefusalLog refusals) {
        this.loop = loop;
        this.refusals = refusals;
        this.settingsRef = new ListenerSettingsRef(settings);
        this.limit = limit;
        limit.join(this);
    }

    ListenerLoop loop() {
        return loop;
    }

    RefusalLog refusals() {
        return refusals;
    }

    /** Runs the task for each on its event loop, and returns when all are done. */
    static void onEach(List<LoopConnections> all, Consumer<LoopConnections> task) {
        CompletableFuture.allOf(all.stream()
                        .map(each -> CompletableFuture.runAsync(() -> task.accept(each), each.loop.eventLoop()))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    /** Waits until each event loop has checked its sockets. */
    static void awaitTurn(List<EventLoop> loops) {
        for (int i = 0; i < 2; i++) { // the first task may arrive while a loop is checking them
            CompletableFuture.allOf(loops.stream()
                            .map(loop -> CompletableFuture.runAsync(() -> {}, loop))
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
        }
    }

    /** Returns the settings for new connections. */
    ListenerSettingsRef settingsRef() {
        return settingsRef;
    }

    /** Accepts new connections with other settings from now on. */
    void replace(ListenerSettings settings) {
        ListenerSettingsRef before = settingsRef;
        settingsRef = new ListenerSettingsRef(settings);
        before.end();
    }

    /** Admits a connection, unless the listener has too many. */
    boolean add(Connection connection) {
        if (!limit.tryAcquire(connection)) {
            loop.observer().onConnectionRefused();
            connection.tellTooMany(limit.isFull());
            return false;
        }
        connection.admitted();
        connections.add(connection);
        loop.gate().enter(connection);
        return true;
    }

    /**
     * Refuses a connection that was just accepted, if the listener refuses all connections now. The channel has no event
     * loop yet, so this costs much less than admitting and closing it.
     */
    boolean refuse(Channel accepted) {
        boolean shed = loop.gate().refusesConnections();
        if (!shed && (!limit.isFull() || limit.replaces(client(accepted)))) {
            return false;
        }
        if (shed) {
            loop.gate().onConnectionShed();
            loop.observer().onConnectionShed();
        } else {
            loop.observer().onConnectionRefused();
            refusals.onFull(settingsRef.settings.name(), accepted.remoteAddress());
        }
        accepted.unsafe().closeForcibly();
        return true;
    }

    /** Returns whose connection it is, as far as the listener knows yet. */
    private ClientNetwork client(Channel accepted) {
        ListenerSettings settings = settingsRef.settings;
        return settings.proxyProtocol() != null
                ? ClientNetwork.NONE
                : settings.limits().clients().sharing(SourceAddress.of(accepted.remoteAddress()));
    }

    @Override
    public void giveWaySoon(ClientNetwork client) {
        if (asked.compareAndSet(false, true)) {
            loop.eventLoop().execute(() -> {
                asked.set(false);
                if (limit.isFull()) { // else another event loop has closed one
                    giveWay(client);
                }
            });
        }
    }

    private void giveWay(ClientNetwork client) {
        int left = LOOKED_AT;
        for (Connection each : sharing.getOrDefault(client, Set.of())) {
            if (left-- == 0) {
                break;
            }
            if (each.giveWay(Resource.CONNECTIONS, false)) {
                loop.gate().onGivenWayToOthers();
                return;
            }
        }
        limit.onAllInUse(client, this);
    }

    /** Counts a connection for its client's share of the listener; returns false, and does not count it, without room. */
    boolean tryShare(Connection connection, ClientNetwork client) {
        boolean admitted = limit.tryShare(client);
        if (admitted) {
            sharing.merge(client, Set.of(connection), (others, one) -> { // most clients have only one
                Set<Connection> all = others.size() == 1 ? new LinkedHashSet<>(others) : others;
                all.add(connection);
                return all;
            });
        }
        return admitted;
    }

    private void releaseShare(Connection connection, ClientNetwork client) {
        sharing.computeIfPresent(client, (same, all) -> {
            if (all.size() == 1) {
                return null;
            }
            all.remove(connection);
            return all;
        });
        limit.releaseShare(client);
    }

    /**
     * Refuses a connection that was just accepted, if its client may not connect or has reached its limit. It costs little,
     * so that it does not delay other clients.
     */
    boolean refusesClient(Channel accepted) {
        ListenerSettings settings = settingsRef.settings;
        ListenerSettings.Clients limits = settings.limits().clients();
        if (settings.proxyProtocol() != null || (limits.access() == Access.ANYONE && limits.maxConnections() == 0)) {
            return false;
        }
        SourceAddress client = SourceAddress.of(accepted.remoteAddress());
        if (!denies(client, settings) && !hasTooMany(client, settings)) {
            return false;
        }
        accepted.unsafe().closeForcibly();
        return true;
    }

    private boolean denies(SourceAddress client, ListenerSettings settings) {
        String why = settings.limits().clients().access().refusal(client.ip());
        if (why == null) {
            return false;
        }
        loop.observer().onConnectionDenied();
        refusals.onDenied(settings.name(), client, why);
        return true;
    }

    private boolean hasTooMany(SourceAddress client, ListenerSettings settings) {
        ListenerSettings.Clients limits = settings.limits().clients();
        ClientNetwork counted = limits.counted(client);
        if (counted.equals(ClientNetwork.NONE) || !limit.isFull(counted, limits.maxConnections())) {
            return false;
        }
        loop.observer().onConnectionRefused();
        refusals.onTooManyOfClient(settings.name(), client);
        return true;
    }

    /**
     * Counts a connection for its client, and returns the client; null if the client may not connect, or has reached its
     * limit.
     */
    @Nullable
    ClientNetwork admit(SourceAddress client, ListenerSettings settings) {
        if (settings.proxyProtocol() != null && denies(client, settings)) {
            return null;
        }
        ListenerSettings.Clients limits = settings.limits().clients();
        ClientNetwork counted = limits.counted(client);
        if (counted.equals(ClientNetwork.NONE) || limit.tryAcquire(counted, limits.maxConnections())) {
            return counted;
        }
        loop.observer().onConnectionRefused();
        refusals.onTooManyOfClient(settings.name(), client);
        return null;
    }

    /** The first complete head of a request has arrived. */
    void onRequest(Connection connection) {
        limit.onRequest(connection);
    }

    void remove(Connection connection) {
        connections.remove(connection);
        loop.gate().leave(connection);
        connection.release();
        limit.release(connection);
        if (!connection.counted().equals(ClientNetwork.NONE)) {
            limit.release(connection.counted());
        }
        if (!connection.sharing().equals(ClientNetwork.NONE)) {
            releaseShare(connection, connection.sharing());
        }
        if (drained != null && connections.isEmpty()) {
            drained.complete(null);
        }
    }

    /** A connection was not in use, and closes to make room for another. */
    void onGivenWay(Resource because) {
        loop.observer().onIdleClosed();
        refusals.onGivenWay(settingsRef.settings.name(), because);
    }

    /** Whether connections announce that they close, including new ones. */
    boolean isCloseAnnounced() {
        return closeAnnounced;
    }

    /** Announces to clients that their connections close, also on connections accepted later. */
    void announceClose() {
        closeAnnounced = true;
        List.copyOf(connections).forEach(Connection::announceClose);
    }

    /** Whether connections take no new work, including new ones. */
    boolean isDraining() {
        return drained != null;
    }

    /** The sockets could not be bound, so there will be no connections. */
    void abandon() {
        settingsRef.end();
    }

    /** Drains all connections; the listener accepts no more. */
    CompletableFuture<Void> drain() {
        if (drained == null) {
            drained = new CompletableFuture<>();
            settingsRef.end();
            List.copyOf(connections).forEach(Connection::drain);
            if (connections.isEmpty()) {
                drained.complete(null);
            }
        }
        return drained;
    }

    /** Returns some of the connections: those with higher numbers than this, from the lowest on. */
    List<OpenConnection> view(long after, int limit) {
        long now = loop.timers().nanoTime();
        return connections.stream() // in the order of their numbers
                .filter(connection -> connection.number() > after)
                .limit(limit)
                .map(connection -> connection.view(now))
                .toList();
    }

    void endAll() {
        List.copyOf(connections).forEach(connection -> connection.end(CUT_OFF));
    }
}
