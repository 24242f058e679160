package dev.gateway.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.time.TimerWheel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Two halves that make a tunnel between real sockets. */
@Timeout(60)
class ByteStreamHalfTest {
    /** More than all buffers on the way hold. */
    private static final byte[] UP = new byte[12 << 20];

    private static final byte[] DOWN = new byte[12 << 20];

    static {
        new Random(1).nextBytes(UP);
        new Random(2).nextBytes(DOWN);
    }

    /** How the client's side is carried and secured. */
    enum Way {
        NIO(TransportKind.NIO, null),
        EPOLL(TransportKind.EPOLL, null),
        IO_URING(TransportKind.IO_URING, null),
        NIO_JDK_TLS(TransportKind.NIO, SslProvider.JDK),
        EPOLL_JDK_TLS(TransportKind.EPOLL, SslProvider.JDK),
        /** Of which both sides end both directions at once, as TLS 1.2 has it. */
        EPOLL_JDK_TLS_12(TransportKind.EPOLL, SslProvider.JDK),
        NIO_BORING_TLS(TransportKind.NIO, SslProvider.OPENSSL),
        EPOLL_BORING_TLS(TransportKind.EPOLL, SslProvider.OPENSSL);

        final TransportKind kind;
        final @Nullable SslProvider tls;

        Way(TransportKind kind, @Nullable SslProvider tls) {
            this.kind = kind;
            this.tls = tls;
        }

        String protocol() {
            return this == EPOLL_JDK_TLS_12 ? "TLSv1.2" : "TLSv1.3";
        }
    }

    private final BlockingQueue<Failure> failures = new ArrayBlockingQueue<>(4);
    private final Semaphore closed = new Semaphore(0); // of the halves
    private @Nullable ByteStreamHalf near; // the client's
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private @Nullable EventLoopGroup loop;
    private @Nullable ServerSocket origin;
    private @Nullable Socket raw; // below TLS
    private Socket client = new Socket();
    private Socket server = new Socket();

    @AfterEach
    void stop() throws IOException {
        if (raw != null) {
            raw.close(); // or closing TLS above it would wait for a write that nobody ends
        }
        client.close();
        server.close();
        if (origin != null) {
            origin.close();
        }
        // First, as Transport does: a loop that ends may not tell handlers that their channel is closed, and what they
        // hold leaks.
        channels.close().awaitUninterruptibly(30, TimeUnit.SECONDS);
        if (loop != null) {
            loop.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void open(Way way) throws Exception {
        Assumptions.assumeTrue(way.kind.unavailabilityCause() == null, way.kind + " is not available here");
        Assumptions.assumeTrue(way.tls != SslProvider.OPENSSL || OpenSsl.isAvailable());
        X509Bundle certificate = way.tls == null
                ? null
                : new CertificateBuilder()
                        .subject("CN=localhost")
                        .setIsCertificateAuthority(true)
                        .buildSelfSigned();
        SslContext context = certificate == null
                ? null
                : SslContextBuilder.forServer(certificate.toKeyManagerFactory())
                        .sslProvider(way.tls)
                        .protocols(way.protocol())
                        .build();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, way.kind.newHandlerFactory(ByteBufAllocator.DEFAULT));
        loop = group;
        ServerSocket behind = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        origin = behind;
        Channel listener = new ServerBootstrap()
                .group(group)
                .channelFactory(way.kind.serverFactory(true))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        channels.add(child);
                        if (context != null) {
                            child.pipeline().addLast(context.newHandler(child.alloc()));
                        }
                        child.pipeline().addLast(new Opener(way, behind.getLocalPort()));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
        channels.add(listener);
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), ((InetSocketAddress) listener.localAddress()).getPort());
        raw = socket;
        client = socket;
        if (certificate != null) {
            SSLContext trusting = SSLContext.getInstance("TLS");
            trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), new SecureRandom());
            SSLSocket secured =
                    (SSLSocket) trusting.getSocketFactory().createSocket(socket, "localhost", socket.getPort(), true);
            secured.startHandshake();
            client = secured;
        }
        server = behind.accept();
        server.setSoTimeout(30_000);
        client.setSoTimeout(30_000);
        // A byte each way, so that what TLS sends besides is out of the way.
        client.getOutputStream().write('u');
        assertEquals('u', server.getInputStream().read());
        server.getOutputStream().write('d');
        assertEquals('d', client.getInputStream().read());
    }

    /** Connects to the origin; then both channels are halves of a tunnel. */
    private final class Opener extends ChannelInboundHandlerAdapter {
        private final Way way;
        private final int port;

        Opener(Way way, int port) {
            this.way = way;
            this.port = port;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(way.tls != null); // TLS's handshake goes on meanwhile
            TimerWheel timers = new TimerWheel(ctx.channel().eventLoop());
            Relay down = new Relay();
            Relay up = new Relay();
            SocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            ByteStreamHalf near = half(Cause.CLIENT_CLOSED, up, timers);
            ByteStreamHalfTest.this.near = near;
            ByteStreamHalf far = half(Cause.UPSTREAM_RESET_IN_BODY, down, timers);
            up.join(near, far, down);
            down.join(far, near, up);
            ChannelFuture connecting = new Bootstrap()
                    .group(ctx.channel().eventLoop())
                    .channelFactory(way.kind.clientFactory(address))
                    .handler(far)
                    .connect(address);
            channels.add(connecting.channel());
            connecting.addListener(connected -> {
                ctx.pipeline().replace(this, null, near);
                ctx.channel().config().setAutoRead(true);
            });
        }
    }

    private CompletableFuture<Void> sending(Socket socket, byte[] bytes) {
        return CompletableFuture.runAsync(() -> {
            try {
                socket.getOutputStream().write(bytes);
                socket.shutdownOutput();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static byte[] received(Socket socket) throws IOException {
        return socket.getInputStream().readAllBytes();
    }

    private static CompletableFuture<byte[]> receiving(Socket socket) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return received(socket);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private void abort(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void theClientMayEndItsDirectionFirst(Way way) throws Exception {
        open(way);
        CompletableFuture<Void> up = sending(client, UP);
        assertArrayEquals(UP, received(server));
        up.get();
        CompletableFuture<Void> down = sending(server, DOWN);
        assertArrayEquals(DOWN, received(client));
        down.get();
        assertTrue(failures.isEmpty());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void whatComesAfterwardsComesWhole(Way way) throws Exception {
        open(way);
        server.shutdownOutput();
        assertEquals(-1, client.getInputStream().read());
        for (int length : new int[] {1000, 1, 16_000, 40_000}) {
            client.getOutputStream().write(UP, 0, length);
            assertArrayEquals(Arrays.copyOf(UP, length), server.getInputStream().readNBytes(length));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void theServerMayEndItsDirectionFirst(Way way) throws Exception {
        open(way);
        CompletableFuture<Void> down = sending(server, DOWN);
        assertArrayEquals(DOWN, received(client));
        down.get();
        CompletableFuture<Void> up = sending(client, UP);
        assertArrayEquals(UP, received(server));
        up.get();
        assertTrue(failures.isEmpty());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void bothMayEndTheirDirectionsWhileBytesAreUnderWay(Way way) throws Exception {
        open(way);
        CompletableFuture<Void> up = sending(client, UP);
        CompletableFuture<Void> down = sending(server, DOWN);
        CompletableFuture<byte[]> atServer = receiving(server);
        assertArrayEquals(DOWN, received(client));
        assertArrayEquals(UP, atServer.get());
        up.get();
        down.get();
        assertTrue(failures.isEmpty());
    }

    /** So that nothing waits to be written when a direction ends. */
    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL", "IO_URING"})
    void directionsMayEndOneAfterTheOtherBetweenFewBytes(Way way) throws Exception {
        open(way);
        server.shutdownOutput();
        assertEquals(-1, client.getInputStream().read());
        client.getOutputStream().write(UP, 0, 1000);
        assertEquals(1000, server.getInputStream().readNBytes(1000).length);
        client.shutdownOutput();
        assertEquals(-1, server.getInputStream().read());
        assertTrue(closed.tryAcquire(2, 30, TimeUnit.SECONDS));
        assertTrue(failures.isEmpty());
    }

    @ParameterizedTest
    @EnumSource(names = "EPOLL_JDK_TLS_12")
    void whatCannotBeDeliveredAnyMoreIsNotTakenForDelivered(Way way) throws Exception {
        open(way);
        CompletableFuture<Void> up = sending(client, UP);
        assertArrayEquals(UP, received(server));
        up.get();
        CompletableFuture<Void> down = sending(server, DOWN);
        assertThrows(ExecutionException.class, () -> down.get(30, TimeUnit.SECONDS));
        assertEquals(Cause.CLIENT_CLOSED, failure());
    }

    private Cause failure() throws InterruptedException {
        Failure failure = failures.poll(30, TimeUnit.SECONDS);
        assertNotNull(failure);
        return failure.cause();
    }

    /** Although the client goes on sending, which nobody reads any more. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void aHalfThatIsClosedInOrderIsNotReset(Way way) throws Exception {
        open(way);
        ByteStreamHalf half = Objects.requireNonNull(near);
        CompletableFuture<Void> up = sending(client, Arrays.copyOf(UP, 1 << 20));
        assertEquals(1000, server.getInputStream().readNBytes(1000).length);
        Objects.requireNonNull(loop)
                .submit(() -> {
                    half.data(Buffers.of("farewell"), false);
                    half.close(Failure.of(Cause.DRAIN, "the end"));
                })
                .get(30, TimeUnit.SECONDS);
        assertEquals("farewell", new String(received(client), StandardCharsets.US_ASCII));
        up.get(30, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void aResetByTheClientIsOneForTheServer(Way way) throws Exception {
        open(way);
        client.getOutputStream().write(UP, 0, 1000);
        assertEquals(1000, server.getInputStream().readNBytes(1000).length);
        abort(Objects.requireNonNull(raw));
        assertThrows(SocketException.class, () -> received(server));
        assertEquals(Cause.CLIENT_CLOSED, failure());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void aResetByTheServerIsOneForTheClient(Way way) throws Exception {
        open(way);
        server.getOutputStream().write(DOWN, 0, 1000);
        assertEquals(1000, client.getInputStream().readNBytes(1000).length);
        abort(server);
        assertThrows(IOException.class, () -> received(client)); // with TLS, no close_notify has come
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void aResetAmidBytesUnderWayEndsBothDirections(Way way) throws Exception {
        open(way);
        CompletableFuture<Void> up = sending(client, UP);
        CompletableFuture<Void> down = sending(server, DOWN);
        assertEquals(1000, client.getInputStream().readNBytes(1000).length);
        abort(server);
        // Whoever asks the socket first is told of the reset: the sender, if it is not the reader.
        assertThrows(ExecutionException.class, () -> up.get(30, TimeUnit.SECONDS));
        assertThrows(ExecutionException.class, () -> down.get(30, TimeUnit.SECONDS));
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "EPOLL_JDK_TLS_12")
    void aResetAfterOneDirectionHasEndedIsSeen(Way way) throws Exception {
        open(way);
        server.shutdownOutput();
        assertEquals(-1, client.getInputStream().read());
        abort(server);
        CompletableFuture<Void> up = sending(client, UP);
        assertThrows(ExecutionException.class, () -> up.get(30, TimeUnit.SECONDS));
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, failure());
    }

    private ByteStreamHalf half(Cause loss, Relay relay, TimerWheel timers) {
        return new ByteStreamHalf(loss, null, closed::release, relay, ConnectionObserver.NONE, timers);
    }

    /** One direction, as the core does it. */
    private final class Relay implements StreamEvents {
        private @Nullable ByteStreamHalf from;
        private @Nullable ByteStreamHalf to;
        private @Nullable Relay back;
        private int owed;

        void join(ByteStreamHalf source, ByteStreamHalf sink, Relay other) {
            from = source;
            to = sink;
            back = other;
        }

        private void credit() {
            if (owed > 0 && from != null && to != null && to.isWritable()) {
                int granted = owed;
                owed = 0;
                from.consumed(granted);
            }
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            owed += data.readableBytes();
            if (to == null) {
                data.release();
            } else {
                to.data(data, last);
                credit();
            }
        }

        @Override
        public void onTrailers(Fields trailers) {
            throw new IllegalStateException();
        }

        @Override
        public void onWritable() {
            // Our source can be written to, which is the sink of the other direction.
            if (back != null) {
                back.credit();
            }
        }

        @Override
        public void onReadComplete() {
            if (to != null) {
                to.flush();
            }
        }

        @Override
        public void onReset(Failure failure) {
            failures.add(failure);
            if (to != null) {
                to.reset(failure);
            }
        }
    }
}
