package dev.gateway.net;

import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.Buffer;
import io.netty.channel.unix.RawUnixChannelOption;
import io.netty.channel.uring.IoUringChannelOption;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * A connection over the loopback interface to a peer that reads nothing. Its kernel may also drop all that arrives, as if
 * the machine were gone; this needs no rights.
 */
final class DeafPeer implements AutoCloseable {
    private static final int SOL_SOCKET = 1;
    private static final RawUnixChannelOption ATTACH_FILTER =
            new RawUnixChannelOption("SO_ATTACH_FILTER", SOL_SOCKET, 26, 16);
    private static final RawUnixChannelOption DETACH_FILTER =
            new RawUnixChannelOption("SO_DETACH_FILTER", SOL_SOCKET, 27, 4);
    private static final ByteBuffer ANYTHING = direct(4);

    /** A program of BPF with one instruction: return 0, which is how many bytes of a packet are taken. */
    private static final ByteBuffer TAKE_NOTHING = direct(8).putShort(0, (short) 0x06);

    /** How many instructions the program has, and where it is. */
    private static final ByteBuffer FILTER =
            direct(16).putShort(0, (short) 1).putLong(8, Buffer.memoryAddress(TAKE_NOTHING));

    private static final int RECEIVE_BUFFER = 8 << 10;

    private final TransportKind kind;
    private final EventLoopGroup peers = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final Transport transport;
    private final EventLoop loop;
    private final Channel peer;
    private final Channel channel;

    private DeafPeer(TransportKind kind) throws Exception {
        this.kind = kind;
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        Channel server = new ServerBootstrap()
                .group(peers)
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext context) {
                        accepted.complete(context.channel());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        transport = Transport.start(kind, 1);
        loop = transport.loops().get(0);
        channel = transport
                .client(loop, server.localAddress(), 5_000)
                .handler(new ChannelInboundHandlerAdapter())
                .connect()
                .sync()
                .channel();
        peer = accepted.get();
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** Connects to one, from a socket of this kind. */
    static DeafPeer connect(TransportKind kind) throws Exception {
        return new DeafPeer(kind);
    }

    /** Has its kernel drop all that arrives. */
    void goAway() {
        set(ATTACH_FILTER, FILTER);
    }

    /** Has its kernel take again what arrives. */
    void comeBack() {
        set(DETACH_FILTER, ANYTHING);
    }

    private void set(RawUnixChannelOption option, ByteBuffer value) {
        if (!peer.config().setOption(option, value.duplicate())) { // which is read to its end
            throw new IllegalStateException("the socket has no " + option);
        }
    }

    /** Sends bytes, and waits until the kernel has taken them. */
    void send(byte[] bytes) throws Exception {
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes)).sync();
    }

    /** Begins to send bytes, of which the kernel takes what fits. */
    void begin(byte[] bytes) {
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes));
    }

    /** Has the kernel probe the peer, after a second instead of five. */
    void probeSoon() throws Exception {
        loop.submit(() -> {
                    PeerAcks.probe(channel, true);
                    channel.config()
                            .setOption(
                                    kind == TransportKind.EPOLL
                                            ? EpollChannelOption.TCP_KEEPIDLE
                                            : IoUringChannelOption.TCP_KEEPIDLE,
                                    1);
                })
                .sync();
    }

    /** Returns how many bytes the kernel has not taken yet. */
    long waitingBytes() throws Exception {
        return loop.submit(() -> {
                    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
                    return waiting == null ? 0 : waiting.totalPendingWriteBytes();
                })
                .get();
    }

    /** Waits until the kernel knows this of the connection. The test's timeout ends this. */
    PeerAcks await(Predicate<PeerAcks> wanted) throws Exception {
        while (true) {
            PeerAcks acks = Objects.requireNonNull(
                    loop.submit(() -> PeerAcks.read(channel)).get());
            if (wanted.test(acks)) {
                return acks;
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
        transport.stop().awaitUninterruptibly();
        peers.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
