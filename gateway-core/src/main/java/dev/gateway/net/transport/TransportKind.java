package dev.gateway.net.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringDatagramChannel;
import io.netty.channel.uring.IoUringDomainSocketChannel;
import io.netty.channel.uring.IoUringServerDomainSocketChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import org.jspecify.annotations.Nullable;

/** Transport kind (epoll, io_uring, NIO): how sockets are polled, read and written. */
public enum TransportKind {
    /** Linux, native; the default. */
    EPOLL,
    /** Linux, native, newer kernels; only on request, because containers often forbid it. */
    IO_URING,
    /** Everywhere. */
    NIO;

    private static final String POLLS_STAY_ARMED = "io.netty.iouring.pollAddMultishotEnabled";

    static {
        // A poll that stays armed reports changes only. A reset that comes with the last bytes is one change with
        // them,
        // and Netty, finding no more bytes behind these, would wait for another: the connection hangs. A poll for each
        // wait looks at the socket as it is.
        if (System.getProperty(POLLS_STAY_ARMED) == null) {
            System.setProperty(POLLS_STAY_ARMED, "false");
        }
    }

    /** Returns why this machine cannot have it, null if it can. */
    @Nullable
    public Throwable unavailabilityCause() {
        return switch (this) {
            case EPOLL -> Epoll.unavailabilityCause();
            case IO_URING -> IoUring.unavailabilityCause();
            case NIO -> null;
        };
    }

    TransportKind fallback() {
        return this == IO_URING ? EPOLL : NIO;
    }

    /** Returns what the loops wait by; buffers that are a loop's, not a connection's, come from the allocator. */
    public IoHandlerFactory newHandlerFactory(ByteBufAllocator allocator) {
        return switch (this) {
            case EPOLL -> EpollHandler.factory();
            case IO_URING -> IoUringHandler.factory(allocator);
            case NIO -> NioIoHandler.newFactory();
        };
    }

    /** Whether the loops have buffers that all their connections receive into. */
    boolean hasReceiveRing() {
        return this == IO_URING && ReceiveRing.isAvailable();
    }

    /** Returns what makes listening channels. */
    public ChannelFactory<ServerChannel> serverFactory(boolean tcp) {
        return switch (this) {
            case EPOLL -> tcp ? EpollServerSocketChannel::new : EpollServerDomainSocketChannel::new;
            case IO_URING -> tcp ? IoUringServerSocketChannel::new : IoUringServerDomainSocketChannel::new;
            case NIO -> tcp ? NioServerSocketChannel::new : NioServerDomainSocketChannel::new;
        };
    }

    /** Whether a listening socket that was passed to this process can be taken over. */
    boolean takesDescriptors() {
        return this == EPOLL; // neither of the others makes a channel of a descriptor
    }

    /** Returns what makes a listening channel of a socket that the process was given. */
    public ChannelFactory<ServerChannel> serverFactory(boolean tcp, int descriptor) {
        return tcp
                ? () -> new EpollServerSocketChannel(descriptor)
                : () -> new EpollServerDomainSocketChannel(descriptor, true);
    }

    /** Returns what makes sockets that connect to the address. */
    public ChannelFactory<Channel> clientFactory(SocketAddress remote) {
        boolean tcp = isTcp(remote);
        return switch (this) {
            case EPOLL -> {
                if (remote instanceof InetSocketAddress inet && inet.getAddress() instanceof Inet4Address) {
                    yield () -> new EpollSocketChannel(SocketProtocolFamily.INET); // less to be set up than IPv6's
                }
                yield tcp ? EpollSocketChannel::new : EpollDomainSocketChannel::new;
            }
            case IO_URING -> tcp ? IoUringSocketChannel::new : IoUringDomainSocketChannel::new;
            case NIO -> tcp ? NioSocketChannel::new : NioDomainSocketChannel::new;
        };
    }

    ChannelFactory<DatagramChannel> datagramFactory() {
        return switch (this) {
            case EPOLL -> EpollDatagramChannel::new;
            case IO_URING -> IoUringDatagramChannel::new;
            case NIO -> NioDatagramChannel::new;
        };
    }

    ChannelFactory<SocketChannel> socketFactory() {
        return switch (this) {
            case EPOLL -> EpollSocketChannel::new;
            case IO_URING -> IoUringSocketChannel::new;
            case NIO -> NioSocketChannel::new;
        };
    }

    SocketAddress unixAddress(String path) {
        return this == NIO ? UnixDomainSocketAddress.of(path) : new DomainSocketAddress(path);
    }

    static boolean isTcp(SocketAddress address) {
        return address instanceof InetSocketAddress;
    }
}
