package dev.gateway.listener;

import dev.gateway.net.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.PromiseCombiner;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bound address and its connections. One socket accepts and spreads connections over the event loops in turn, or each
 * loop has a socket of its own. Made and ended by one thread that is not an event loop.
 */
public final class Listener {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BACKLOG = 4096; // the kernel cuts it to net.core.somaxconn

    private final Transport transport;
    private final ListenerSettings settings;
    private final List<LoopConnections> loops = new ArrayList<>();
    private final ConnectionInitializer initializer;
    private final ConnectionLimit limit;
    private final List<Channel> sockets = new ArrayList<>();

    private Listener(Transport transport, List<ListenerLoop> loops, ListenerSettings settings) {
        this.transport = transport;
        this.settings = settings;
        this.limit = new ConnectionLimit(settings.maxConnections());
        Map<EventLoop, LoopConnections> byLoop = new HashMap<>();
        for (ListenerLoop loop : loops) {
            LoopConnections connections = new LoopConnections(loop, settings, limit);
            byLoop.put(loop.eventLoop(), connections);
            this.loops.add(connections);
        }
        this.initializer = new ConnectionInitializer(byLoop);
    }

    /**
     * Binds and accepts connections from now on.
     *
     * @param loops all of the transport's, in its order
     * @throws IOException if the address cannot be bound; the message names listener and address
     */
    public static Listener bind(Transport transport, List<ListenerLoop> loops, ListenerSettings settings)
            throws IOException {
        Listener listener = new Listener(transport, loops, settings);
        try {
            listener.bindAll();
        } catch (IOException | RuntimeException e) {
            listener.stopAccepting();
            throw new IOException(
                    "listener " + settings.name() + " cannot be bound to " + describe(settings.bound()) + ": "
                            + e.getMessage(),
                    e);
        }
        return listener;
    }

    private static String describe(ListenerSettings.Address address) {
        if (address instanceof ListenerSettings.Address.Unix unix) {
            return unix.path().toString();
        }
        InetSocketAddress tcp = ((ListenerSettings.Address.Tcp) address).address();
        return tcp.getHostString() + ":" + tcp.getPort();
    }

    private void bindAll() throws IOException {
        if (settings.bound() instanceof ListenerSettings.Address.Unix unix) {
            SocketFile.removeStale(unix.path());
            bind(0, transport.unixAddress(unix.path()), false);
            return;
        }
        InetSocketAddress address = ((ListenerSettings.Address.Tcp) settings.bound()).address();
        if (address.isUnresolved()) {
            throw new IOException("unknown host");
        }
        boolean share = settings.reusePort() && transport.canSharePort() && loops.size() > 1;
        bind(0, address, share);
        if (share) {
            // Port 0 is the kernel's choice once; the other sockets share what it chose.
            InetSocketAddress chosen = (InetSocketAddress) sockets.get(0).localAddress();
            for (int i = 1; i < loops.size(); i++) {
                bind(i, chosen, true);
            }
        }
    }

    private void bind(int loop, SocketAddress address, boolean share) throws IOException {
        EventLoop acceptor = loops.get(loop).loop.eventLoop();
        ServerBootstrap bootstrap =
                transport.server(acceptor, share ? acceptor : transport.group(), address, BACKLOG, share);
        ChannelFuture bound = bootstrap.childHandler(initializer).bind().awaitUninterruptibly();
        if (!bound.isSuccess()) {
            Throwable cause = bound.cause();
            throw cause instanceof IOException e ? e : new IOException(cause);
        }
        Channel socket = bound.channel();
        sockets.add(socket);
        socket.pipeline()
                .addLast(new AcceptErrors(settings.name(), loops.get(loop).loop.observer()));
    }

    /** Returns the listener's name. */
    public String name() {
        return settings.name();
    }

    /** Returns what it was made with. */
    public ListenerSettings settings() {
        return settings;
    }

    /** Returns the address bound, with the port that the kernel chose if that was left to it. */
    public SocketAddress address() {
        return sockets.get(0).localAddress();
    }

    /** Returns how many connections are open. */
    public int connections() {
        return limit.open();
    }

    /** Closes the listening sockets, and waits until they are; connections stay. */
    public void stopAccepting() {
        sockets.forEach(socket -> socket.close().awaitUninterruptibly());
        if (settings.bound() instanceof ListenerSettings.Address.Unix unix && !sockets.isEmpty()) {
            remove(unix.path());
        }
    }

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            log.warn("the socket file {} cannot be removed: {}", path, e.toString());
        }
    }

    /**
     * Lets every connection finish what it does and close; connections that are accepted later finish too.
     *
     * @return done when no connection is left
     */
    public Future<Void> drain() {
        EventLoop first = loops.get(0).loop.eventLoop();
        Promise<Void> all = first.newPromise();
        List<Promise<Void>> each = new ArrayList<>();
        for (LoopConnections connections : loops) {
            EventLoop loop = connections.loop.eventLoop();
            Promise<Void> done = loop.newPromise();
            each.add(done);
            loop.execute(() -> connections.drain(done));
        }
        first.execute(() -> {
            PromiseCombiner combiner = new PromiseCombiner(first);
            each.forEach(done -> combiner.add((Future<Void>) done));
            combiner.finish(all);
        });
        return all;
    }

    /** Closes every connection at once, whatever runs on it. */
    public void closeConnections() {
        for (LoopConnections connections : loops) {
            connections.loop.eventLoop().execute(connections::closeAll);
        }
    }
}
