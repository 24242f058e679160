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
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets bound to one address; another listener may take them over. Either one socket accepts and distributes
 * connections to the event loops in turn, or each loop has its own socket. Made and closed by threads that are no event
 * loops.
 */
final class Acceptor {
    private static final Logger log = LoggerFactory.getLogger(Acceptor.class);
    private static final int BACKLOG = 4096; // the kernel cuts it to net.core.somaxconn

    /** How long to accept those who have connected, if new clients may come all the time. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Transport transport;
    private final ListenerSettings settings;
    private final List<EventLoop> loops;
    private final ConnectionInitializer initializer;
    private final List<Channel> sockets = new ArrayList<>();
    private final List<AcceptGate> gates = new ArrayList<>();
    private final AcceptGate.Shared gating;
    private boolean accepting;
    private boolean inherited; // another process, such as systemd, has the sockets, too
    private boolean turnedAway; // no new clients come
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
     * Binds the address. It accepts no connections until {@link #accept}.
     *
     * @param owners the owner of the connections of each event loop, in the transport's order
     */
    static Acceptor bind(Transport transport, ListenerSettings settings, List<LoopConnections> owners)
            throws IOException {
        Acceptor acceptor = new Acceptor(transport, settings, owners);
        try {
            acceptor.bindAll();
        } catch (IOException | RuntimeException e) {
            acceptor.close();
            throw new IOException(
                    "listener " + settings.name() + " cannot be bound to " + text(settings.bound()) + ": "
                            + FailureText.of(e) + hint(e, settings.bound()),
                    e);
        }
        return acceptor;
    }

    private static String text(SocketAddress bound) {
        return bound instanceof InetSocketAddress tcp ? tcp.getHostString() + ":" + tcp.getPort() : bound.toString();
    }

    private static String hint(Exception failure, SocketAddress bound) {
        boolean denied = String.valueOf(failure.getMessage()).contains("Permission denied");
        return denied && bound instanceof InetSocketAddress
                ? ": ports below 1024 need the capability CAP_NET_BIND_SERVICE, as deploy/systemd has it"
                : "";
    }

    private void bindAll() throws IOException {
        if (transport.inherited().take(settings.name(), address(settings.bound()), this::takeOver)) {
            inherited = true;
            return;
        }
        if (settings.bound() instanceof UnixDomainSocketAddress unix) {
            SocketFile prepared = SocketFile.prepare(unix.getPath(), settings.sharing() != Sharing.NONE);
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
                    sockets.get(0), address, earlier); // if this start fails, the kernel resets connections here
        }
        if (spread) {
            // For port 0, the kernel chooses a port for the first socket; the others bind the same one.
            InetSocketAddress chosen = (InetSocketAddress) address();
            for (EventLoop loop : loops.subList(1, loops.size())) {
                bind(loop, loop, chosen);
            }
        }
        if (share) {
            shared = new ReusePortSockets((InetSocketAddress) address(), sockets, earlier);
        }
    }

    private SocketAddress address(SocketAddress address) {
        return address instanceof UnixDomainSocketAddress unix ? transport.unixAddress(unix.getPath()) : address;
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

    /** Returns the bound address, with the port that the kernel has chosen for port 0. */
    SocketAddress address() {
        return sockets.get(0).localAddress();
    }

    /** Whether other processes may bind the port, too. */
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

    /** Gives new connections to other owners from now on. Returns when each event loop does. */
    void giveTo(List<LoopConnections> owners) {
        LoopConnections.onEach(owners, owner -> initializer.target(owner.loop().eventLoop()).owner = owner);
    }

    /**
     * Gives new connections to other processes that listen at the same port. Connections that are on their way still arrive
     * here.
     *
     * @return whether there is such a process
     */
    synchronized boolean giveWay() {
        return shared != null && !closed && shared.giveWay();
    }

    /** Refuses new clients, if the platform can do so without losing any. Call {@link #acceptRest} next. */
    synchronized void turnAway() {
        if (accepting && !closed && !inherited && (shared == null || shared.isAlone())) {
            boolean able = true;
            for (Channel socket : sockets) {
                able &= SynFilter.attach(socket);
            }
            turnedAway = able;
            if (!able && file == null) {
                log.info(
                        "listener {}: connections that arrive while it closes may be reset, as the system permits no"
                                + " socket filter",
                        settings.name());
            }
        }
    }

    /**
     * Accepts the connections that wait. Call {@link #close} next.
     *
     * @param nanos the maximum time: a busy machine needs seconds for some thousand. It is less where new clients still come
     * @return completes on an event loop, or at once
     */
    synchronized CompletableFuture<Void> acceptRest(long nanos) {
        if (!accepting || closed || inherited) { // clients in a shared socket wait for the other process
            return CompletableFuture.completedFuture(null);
        }
        if (file != null) {
            file.remove();
        }
        long most = turnedAway || file != null ? nanos : Math.min(REST_NANOS, nanos);
        return CompletableFuture.allOf(
                        gates.stream().map(gate -> gate.emptied(most)).toArray(CompletableFuture<?>[]::new))
                .thenCompose(done -> CompletableFuture.allOf(loops.stream() // these have got the connections
                        .map(loop -> CompletableFuture.runAsync(() -> {}, loop))
                        .toArray(CompletableFuture<?>[]::new)));
    }

    /** Closes the sockets, and waits until they are closed; connections stay open. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (file != null) {
            file.remove(); // first: later, another file could have the same inode as ours
        }
        if (shared != null) {
            shared.leave(() -> LoopConnections.awaitTurn(loops));
        } else {
            sockets.forEach(socket -> socket.close().awaitUninterruptibly());
        }
    }
}
