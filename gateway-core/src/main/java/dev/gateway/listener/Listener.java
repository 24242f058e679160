package dev.gateway.listener;

import dev.gateway.net.transport.Transport;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A bound address and its connections. Made, changed and ended by one thread at a time that is not an event loop. Keeps
 * the TLS of its settings for as long as a connection may need it.
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
        return settings.limits().maxConnectionsPerAddress() == 0
                ? new ConnectionLimit(settings.limits().maxConnections())
                : new FairShares(settings);
    }

    /**
     * Binds; connections wait in the kernel until {@link #accept}.
     *
     * @param loops all of the transport's, in its order
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
     * Accepts connections under other settings from now on; open ones keep theirs. Returns when every event loop does.
     *
     * @param next the address is not looked at
     */
    public void replace(ListenerSettings next) {
        settings = next;
        limit.change(next);
        LoopConnections.onEach(loops, connections -> connections.replace(next));
    }

    /** Makes a listener that accepts what comes to this one's address from now on. Connections that there are stay. */
    public Listener succeededBy(List<ListenerLoop> others, ListenerSettings next) {
        succeeded = true;
        return new Listener(acceptor, others, next);
    }

    /** Whether each event loop has a socket of its own, as far as that was asked for when the address was bound. */
    public boolean isReusePort() {
        return acceptor.isReusePort();
    }

    /** Returns the listener's name. */
    public String name() {
        return settings.name();
    }

    /** Returns under what settings connections are accepted. */
    public ListenerSettings settings() {
        return settings;
    }

    /** Returns the address bound, with the port that the kernel chose if that was left to it. */
    public SocketAddress address() {
        return acceptor.address();
    }

    /** Returns how many connections are open. */
    public int connections() {
        return limit.open();
    }

    /**
     * Lets other processes that listen at the same port have new connections, unless another listener has the sockets.
     * What is on its way here still comes.
     *
     * @return whether there is such a process
     */
    public boolean giveWay() {
        return !succeeded && acceptor.giveWay();
    }

    /**
     * Looks at open connections; the answer comes from the event loops, one part from each.
     *
     * @param after those numbered after this one
     * @param limit how many of each loop at most, the first in order
     */
    public List<CompletableFuture<List<OpenConnection>>> view(long after, int limit) {
        return loops.stream()
                .map(each -> CompletableFuture.supplyAsync(
                        () -> each.view(after, limit), each.loop().eventLoop()))
                .toList();
    }

    /** Turns new clients away, unless another listener has the sockets; {@link #acceptRest} is to follow. */
    public void turnAway() {
        if (!succeeded) {
            acceptor.turnAway();
        }
    }

    /**
     * Accepts what has come, unless another listener has the sockets; {@link #stopAccepting} is to follow.
     *
     * @param nanos for how long at most, where new clients cannot be turned away
     * @return done when nobody waits any more, on some event loop
     */
    public CompletableFuture<Void> acceptRest(long nanos) {
        return succeeded ? CompletableFuture.completedFuture(null) : acceptor.acceptRest(nanos);
    }

    /** Closes the listening sockets, unless another listener has them, and waits until they are; connections stay. */
    public void stopAccepting() {
        if (!succeeded) {
            acceptor.close();
        }
    }

    /** Announces to every client that its connection closes, but goes on accepting. Returns when all connections know. */
    public void announceClose() {
        LoopConnections.onEach(loops, LoopConnections::announceClose);
    }

    /**
     * Accepts no more connections and lets each finish what it does and close.
     *
     * @return done when no connection is left, on some event loop
     */
    public CompletableFuture<Void> drain() {
        stopAccepting();
        return CompletableFuture.allOf(loops.stream()
                .map(connections -> CompletableFuture.completedFuture(connections)
                        .thenComposeAsync(
                                LoopConnections::drain, connections.loop().eventLoop()))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Ends what runs on every connection, and closes it. */
    public void closeConnections() {
        for (LoopConnections connections : loops) {
            connections.loop().eventLoop().execute(connections::endAll);
        }
    }
}
