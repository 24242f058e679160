package dev.gateway.upstream.pool;

import dev.gateway.net.transport.Connector;
import dev.gateway.net.transport.Descriptors;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A network without a kernel: its sockets connect, answer and break when the test says so. */
final class ModelNetwork implements Connector {
    /** Those that are open, or on their way. */
    final Set<ModelSocket> sockets = new LinkedHashSet<>();

    private boolean askedLate; // by a connection that is closed
    private final Descriptors descriptors;
    private final BooleanSupplier refuses;
    private final Consumer<ModelSocket> begun;
    private final Consumer<String> told;

    /**
     * Makes it, without sockets.
     *
     * @param refuses whether the next connection is refused at once
     * @param begun gets the socket of each connection that is not refused at once
     * @param told what becomes of connections
     */
    ModelNetwork(Descriptors descriptors, BooleanSupplier refuses, Consumer<ModelSocket> begun, Consumer<String> told) {
        this.descriptors = descriptors;
        this.refuses = refuses;
        this.begun = begun;
        this.told = told;
    }

    /** Whether a request was sent on a connection whose server had said that it takes no more. */
    boolean isAskedLate() {
        return askedLate || sockets.stream().anyMatch(socket -> socket.server.isAskedLate());
    }

    @Override
    public @Nullable Channel connect(
            EventLoop loop,
            SocketAddress address,
            long connectMillis,
            ChannelHandler handler,
            Consumer<Throwable> failed) {
        if (!loop.inEventLoop()) {
            throw new IllegalStateException("not on its event loop");
        }
        if (refuses.getAsBoolean()) {
            told.accept("refuse " + address + " at once");
            failed.accept(new IOException("refused at once"));
            return null;
        }
        told.accept("begin to connect to " + address);
        ModelSocket socket = new ModelSocket((ModelLoop) loop, (InetSocketAddress) address, failed);
        descriptors.upstreams().take();
        sockets.add(socket);
        begun.accept(socket);
        socket.pipeline().addLast(handler);
        loop.register(socket);
        socket.closeFuture().addListener(closed -> {
            told.accept("closed " + address);
            sockets.remove(socket);
            askedLate |= socket.server.isAskedLate();
            descriptors.upstreams().release();
        });
        return socket;
    }

    @Override
    public SocketAddress unixAddress(Path path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Descriptors descriptors() {
        return descriptors;
    }
}
