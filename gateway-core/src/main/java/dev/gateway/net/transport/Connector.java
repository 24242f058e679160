package dev.gateway.net.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Connector: makes the sockets of connections to upstreams. The transport does; a test may have sockets of its own. */
public interface Connector {
    /**
     * Connects on a loop, which is the caller's.
     *
     * @param connectMillis the connect timeout, 0 for none but the kernel's
     * @param handler the first of the channel
     * @param failed told why there is no connection, on the loop, maybe before this returns
     * @return the channel, null if none could be made
     */
    @Nullable
    Channel connect(
            EventLoop loop,
            SocketAddress address,
            long connectMillis,
            ChannelHandler handler,
            Consumer<Throwable> failed);

    /**
     * Returns the address of a Unix-domain socket, as these sockets want it.
     *
     * @param path the socket file
     */
    SocketAddress unixAddress(Path path);

    /** Returns who may have how many file descriptors. */
    Descriptors descriptors();
}
