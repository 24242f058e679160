package dev.gateway.listener;

import dev.gateway.listener.ListenerSettings.Sharing;
import dev.gateway.net.FailureText;
import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.net.transport.SynFilter;
import dev.gateway.net.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The sockets bound to one address; another listener may take them over. One socket accepts and spreads connections over
 * the event loops in turn, or each loop has a socket of its own. Made and closed by threads that are not event loops.
 */
final class Acceptor {
    private static final int BACKLOG = 4096; // the kernel cuts it to net.core.somaxconn

    private final Transport transport;
    private final ListenerSettings settings;
    private final List<EventLoop> loops;
    private final ConnectionInitializer initializer;
    private final List<Channel> sockets = new ArrayList<>();
    private final List<AcceptGate> gates = new ArrayList<>();
    private final AcceptGate.Shared gating;
    private boolean accepting;
    private boolean inherited; // the sockets are somebody else's, too
    private boolean closed;
    private @Nullable SocketFile file;
    private @Nullable ReusePortSockets shared;

    private Acceptor(Transport transport, ListenerSettings settings, List<LoopConnections> owners) {
        this.transport = transport;
        this.settings = settings;
        Map<EventLoop, AcceptTarget> targets = new HashMap<>();
        owners.forEach(owner -> targets.put(owner.loop().eventLoop(), new AcceptTarget(owner)));
        this.loops = owners.stream().map(owner -> owner.loop().eventLoop()).toList();
        this.initializer = new ConnectionInitializer(targets);
        this.gating =
                new AcceptGate.Shared(new AcceptTrouble(System::nanoTime), new AcceptRate(System.nanoTime()), targets);
    }

    /**
     * Binds; nothing is accepted until {@link #accept}.
     *
     * @param owners who gets the connections: of each event loop, in the transport's order
     */
    static Acceptor bind(Transport transport, ListenerSettings settings, List<LoopConnections> owners)
            throws IOException {
        Acceptor acceptor = new Acceptor(transport, settings, owners);
        try {
            acceptor.bindAll();
        } catch (IOException | RuntimeException e) {
            acceptor.close();
            throw new IOException(
                    "listener " + settings.name() + " cannot be bound to " + settings.bound() + ": " + FailureText.of(e)
                            + hint(e, settings.bound()),
                    e);
        }
        return acceptor;
    }

    private static String hint(Exception failure, ListenerSettings.Address bound) {
        boolean denied = String.valueOf(failure.getMessage()).contains("Permission denied");
        return denied && bound instanceof ListenerSettings.Address.Tcp
                ? ": ports below 1024 need the capability CAP_NET_BIND_SERVICE, as deploy/systemd has it"
                : "";
    }

    private void bindAll() throws IOException {
        if (transport.inherited().take(settings.name(), address(settings.bound()), this::takeOver)) {
            inherited = true;
            return;
        }
        if (settings.bound() instanceof ListenerSettings.Address.Unix unix) {
            SocketFile prepared = SocketFile.prepare(unix.path(), settings.sharing() != Sharing.NONE);
            bind(loops.get(0), transport.group(), transport.unixAddress(prepared.bound()));
            file = prepared;
            prepared.claim();
            return;
        }
        InetSocketAddress address = (InetSocketAddress) address(settings.bound());
        if (address.isUnresolved()) {
            throw new IOException("unknown host");
        }
        boolean share = settings.sharing() != Sharing.NONE && transport.canSharePort();
        boolean spread = share && settings.sharing() == Sharing.SPREAD;
        Set<String> earlier = share ? ReusePortSockets.listening(address) : Set.of();
        bind(loops.get(0), spread ? loops.get(0) : transport.group(), address);
        if (share) {
            ReusePortSockets.holdBack(
                    sockets.get(0), address, earlier); // whatever comes here is reset if this start fails
        }
        if (spread) {
            // Port 0 is the kernel's choice once; the other sockets share what it chose.
            InetSocketAddress chosen = (InetSocketAddress) address();
            for (EventLoop loop : loops.subList(1, loops.size())) {
                bind(loop, loop, chosen);
            }
        }
        if (share) {
            shared = new ReusePortSockets((InetSocketAddress) address(), sockets, earlier);
        }
    }

    private SocketAddress address(ListenerSettings.Address address) {
        return address instanceof ListenerSettings.Address.Unix unix
                ? transport.unixAddress(unix.path())
                : ((ListenerSettings.Address.Tcp) address).address();
    }

    private void takeOver(int descriptor, SocketAddress address) throws IOException {
        EventLoop loop = loops.get(sockets.size() % loops.size());
        add(
                loop,
                prepared(transport.listening(loop, transport.group(), address, descriptor))
                        .register());
    }

    private void bind(EventLoop loop, EventLoopGroup children, SocketAddress address) throws IOException {
        boolean share = settings.sharing() != Sharing.NONE;
        add(
                loop,
                prepared(transport.server(loop, children, address, BACKLOG, share))
                        .bind());
    }

    private ServerBootstrap prepared(ServerBootstrap bootstrap) {
        return bootstrap.option(ChannelOption.AUTO_READ, false).childHandler(initializer);
    }

    private void add(EventLoop loop, ChannelFuture bound) throws IOException {
        bound.awaitUninterruptibly();
        if (!bound.isSuccess()) {
            Throwable cause = bound.cause();
            throw cause instanceof IOException e ? e : new IOException(cause);
        }
        Channel socket = bound.channel();
        sockets.add(socket);
        DescriptorShare share =
                settings.isAdmin() ? null : transport.descriptors().clients();
        AcceptGate gate = new AcceptGate(socket, initializer.target(loop), share, gating);
        gates.add(gate);
        loop.submit(() -> socket.pipeline().addFirst(gate)).syncUninterruptibly();
    }

    /** Returns the address bound, with the port that the kernel chose if that was left to it. */
    SocketAddress address() {
        return sockets.get(0).localAddress();
    }

    /** Whether it was bound to share the port. */
    boolean isReusePort() {
        return settings.sharing() != Sharing.NONE;
    }

    /** Begins to accept connections. */
    synchronized void accept() {
        if (file != null) {
            file.publish();
        }
        if (shared != null) {
            shared.join(settings.sharing() == Sharing.LAST_GETS_ALL);
        }
        accepting = true;
        sockets.forEach(socket -> socket.config().setAutoRead(true));
    }

    /** Lets others have what is accepted from now on, and returns when every event loop does. */
    void giveTo(List<LoopConnections> owners) {
        LoopConnections.onEach(owners, owner -> initializer.target(owner.loop().eventLoop()).owner = owner);
    }

    /**
     * Lets other processes that listen there too have new connections from now on. What is on its way here still comes.
     *
     * @return whether there is one
     */
    synchronized boolean giveWay() {
        return shared != null && !closed && shared.giveWay();
    }

    /** Turns new clients away where that can be done without losing any; {@link #acceptRest} is to follow. */
    synchronized void turnAway() {
        if (accepting && !closed && !inherited && (shared == null || shared.isAlone())) {
            sockets.forEach(SynFilter::attach);
        }
    }

    /**
     * Accepts what has come; {@link #close} is to follow.
     *
     * @param nanos for how long at most, where others come all the time
     * @return done on an event loop, or at once
     */
    synchronized CompletableFuture<Void> acceptRest(long nanos) {
        if (!accepting || closed || inherited) { // what waits in a socket that others have waits for them
            return CompletableFuture.completedFuture(null);
        }
        if (file != null) {
            file.remove();
        }
        return CompletableFuture.allOf(
                        gates.stream().map(gate -> gate.emptied(nanos)).toArray(CompletableFuture<?>[]::new))
                .thenCompose(done -> CompletableFuture.allOf(loops.stream() // to which connections were handed
                        .map(loop -> CompletableFuture.runAsync(() -> {}, loop))
                        .toArray(CompletableFuture<?>[]::new)));
    }

    /** Closes the sockets, and waits until they are; connections stay. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (file != null) {
            file.remove(); // while it is certain that no other file has become what ours was to the file system
        }
        if (shared != null) {
            shared.leave(() -> LoopConnections.awaitTurn(loops));
        } else {
            sockets.forEach(socket -> socket.close().awaitUninterruptibly());
        }
    }
}
