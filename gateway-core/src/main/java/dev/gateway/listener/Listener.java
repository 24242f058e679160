package dev.gateway.listener;

import dev.gateway.listener.limit.Admission;
import dev.gateway.listener.limit.ConnectionLimit;
import dev.gateway.listener.limit.FairShares;
import dev.gateway.net.transport.Transport;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A bound address and its connections. Made, changed and ended by one thread at a time that is no event loop. Keeps the TLS
 * of its settings as long as a connection may need it.
 */
public final class Listener {
    private final List<LoopConnections> loops = new ArrayList<>();
    private final Admission limit;
    private final Acceptor acceptor;
    private volatile ListenerSettings settings;
    private volatile boolean succeeded; // another listener has the acceptor

    private Listener(Transport transport, List<ListenerLoop> loops, ListenerSettings settings) throws IOException {
        this.settings = settings;
        this.limit = admission(settings);
        RefusalLog refusals = new RefusalLog(System::nanoTime);
        loops.forEach(loop -> this.loops.add(new LoopConnections(loop, settings, limit, refusals)));
        try {
            this.acceptor = Acceptor.bind(transport, settings, this.loops);
        } catch (IOException e) {
            this.loops.forEach(LoopConnections::abandon);
            throw e;
        }
    }

    private Listener(Acceptor acceptor, List<ListenerLoop> loops, ListenerSettings settings) {
        this.settings = settings;
        this.limit = admission(settings);
        RefusalLog refusals = new RefusalLog(System::nanoTime);
        loops.forEach(loop -> this.loops.add(new LoopConnections(loop, settings, limit, refusals)));
        this.acceptor = acceptor;
        acceptor.giveTo(this.loops);
    }

    private static Admission admission(ListenerSettings settings) {
        ListenerSettings.Limits limits = settings.limits();
        return limits.maxConnectionsPerAddress() == 0
                ? new ConnectionLimit(limits.maxConnections())
                : new FairShares(settings.name(), limits.maxConnections(), limits.maxConnectionsPerAddress());
    }

    /**
     * Binds the address. Connections wait in the kernel until {@link #accept}.
     *
     * @param loops all event loops of the transport, in its order
     * @throws IOException if the address cannot be bound; the message names listener and address
     */
    public static Listener bind(Transport transport, List<ListenerLoop> loops, ListenerSettings settings)
            throws IOException {
        return new Listener(transport, loops, settings);
    }

    /** Begins to accept connections. */
    public void accept() {
        acceptor.accept();
    }

    /**
     * Accepts new connections with other settings from now on; open ones keep theirs. Returns when each event loop does.
     *
     * @param next the settings; their address is ignored
     */
    public void replace(ListenerSettings next) {
        settings = next;
        limit.change(next.limits().maxConnections(), next.limits().maxConnectionsPerAddress());
        LoopConnections.onEach(loops, connections -> connections.replace(next));
    }

    /** Makes a listener that takes over this one's sockets, and so its new connections. Open connections stay here. */
    public Listener succeededBy(List<ListenerLoop> others, ListenerSettings next) {
        succeeded = true;
        return new Listener(acceptor, others, next);
    }

    /** Whether other processes may bind the port, too, according to the settings when it was bound. */
    public boolean isReusePort() {
        return acceptor.isReusePort();
    }

    /** Returns the listener's name. */
    public String name() {
        return settings.name();
    }

    /** Returns the settings for new connections. */
    public ListenerSettings settings() {
        return settings;
    }

    /** Returns the bound address, with the port that the kernel has chosen for port 0. */
    public SocketAddress address() {
        return acceptor.address();
    }

    /** Returns how many connections are open. */
    public int connections() {
        return limit.open();
    }

    /**
     * Gives new connections to other processes that listen at the same port, unless another listener has the sockets.
     * Connections that are on their way still arrive here.
     *
     * @return whether there is such a process
     */
    public boolean giveWay() {
        return !succeeded && acceptor.giveWay();
    }

    /**
     * Returns open connections, one future for each event loop.
     *
     * @param after only connections with higher numbers than this
     * @param limit the maximum number for each loop, from the lowest on
     */
    public List<CompletableFuture<List<OpenConnection>>> view(long after, int limit) {
        return loops.stream()
                .map(each -> CompletableFuture.supplyAsync(
                        () -> each.view(after, limit), each.loop().eventLoop()))
                .toList();
    }

    /** Refuses new clients, unless another listener has the sockets. Call {@link #acceptRest} next. */
    public void turnAway() {
        if (!succeeded) {
            acceptor.turnAway();
        }
    }

    /**
     * Accepts the connections that wait, unless another listener has the sockets. Call {@link #stopAccepting} next.
     *
     * @param nanos the maximum time, in case new clients cannot be refused
     * @return completes when no client waits any more, on some event loop
     */
    public CompletableFuture<Void> acceptRest(long nanos) {
        return succeeded ? CompletableFuture.completedFuture(null) : acceptor.acceptRest(nanos);
    }

    /**
     * Closes the listening sockets, unless another listener has them. Waits until they are closed. Connections stay open.
     * The kernel resets clients that are still connecting, so call {@link #giveWay}, {@link #turnAway} and
     * {@link #acceptRest} before.
     */
    public void stopAccepting() {
        if (!succeeded) {
            acceptor.close();
        }
    }

    /**
     * Announces to each client that its connection closes, but continues to accept. Returns when all connections have done
     * so.
     */
    public void announceClose() {
        LoopConnections.onEach(loops, LoopConnections::announceClose);
    }

    /**
     * Stops accepting, and drains all connections: each closes when its exchanges have ended.
     *
     * @return completes when no connection is left, on some event loop
     */
    public CompletableFuture<Void> drain() {
        stopAccepting();
        return CompletableFuture.allOf(loops.stream()
                .map(connections -> CompletableFuture.completedFuture(connections)
                        .thenComposeAsync(
                                LoopConnections::drain, connections.loop().eventLoop()))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Ends all exchanges and closes all connections. */
    public void closeConnections() {
        for (LoopConnections connections : loops) {
            connections.loop().eventLoop().execute(connections::endAll);
        }
    }
}
