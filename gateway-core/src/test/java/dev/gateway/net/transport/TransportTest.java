package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.nio.NioSelectableChannelIoHandle;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransportTest {
    private static final int CONNECTIONS = 20;
    private static final int WRITTEN = 16 << 20;

    /** What handlers hold is released when they hear of the end, such as the state of TLS. */
    @ParameterizedTest
    @EnumSource
    void everyHandlerHearsOfTheEndBeforeItsLoopStops(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 2);
        EventLoop loop = transport.loops().get(0);
        CountDownLatch active = new CountDownLatch(2 * CONNECTIONS);
        Queue<Channel> removed = new ConcurrentLinkedQueue<>();
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        active.countDown();
                    }

                    @Override
                    public void handlerRemoved(ChannelHandlerContext ctx) {
                        removed.add(ctx.channel());
                    }
                });
            }
        };
        Channel server = transport
                .server(loop, transport.group(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64, false)
                .childHandler(initializer)
                .bind()
                .sync()
                .channel();
        SocketAddress address = server.localAddress();
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            clients.add(transport
                    .client(transport.loops().get(i % 2), address, 0)
                    .handler(initializer)
                    .connect()
                    .sync()
                    .channel());
        }
        assertThat(active.await(20, TimeUnit.SECONDS)).isTrue();

        clients.subList(0, CONNECTIONS / 2).forEach(Channel::close); // as pools do, which wait for nothing

        transport.stop().sync();

        assertThat(removed).hasSize(2 * CONNECTIONS).containsAll(clients);
        assertThat(server.isOpen()).isFalse();
    }

    /** Netty catches what handlers and tasks throw, but no error of what is below them. */
    @Test
    @SuppressWarnings("try") // of close(), which is Netty's
    void theEndOfALoopThatNobodyHasStoppedIsTold() throws Exception {
        Transport transport = Transport.start(TransportKind.NIO, 2);
        CountDownLatch lost = new CountDownLatch(1);
        transport.onLoopLost(lost::countDown);
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        IoEventLoop loop = (IoEventLoop) transport.loops().get(0);
        loop.register(new NioSelectableChannelIoHandle<>(pipe.source()) {
                    @Override
                    protected void handle(Pipe.SourceChannel channel, SelectionKey key) {
                        throw new OutOfMemoryError("made by the test");
                    }
                })
                .sync()
                .getNow()
                .submit(NioIoOps.READ);
        pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(transport.loops().get(1).isShuttingDown()).isFalse();
        transport.stop().await();
        pipe.sink().close();
        pipe.source().close();
    }

    @Test
    void theEndOfALoopThatIsStoppedIsNotTold() throws Exception {
        Transport transport = Transport.start(TransportKind.NIO, 1);
        AtomicBoolean lost = new AtomicBoolean();
        transport.onLoopLost(() -> lost.set(true));
        Thread loop =
                transport.loops().get(0).submit(Thread::currentThread).sync().getNow();
        transport.stop().sync();
        loop.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(loop.isAlive()).isFalse();
        assertThat(lost).isFalse();
    }

    /** Else io_uring closes it when nobody can be told any more. */
    @ParameterizedTest
    @EnumSource
    void whatAsksNameServersIsClosedBeforeItsLoopStops(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        CountDownLatch removed = new CountDownLatch(1);
        Channel channel = new Bootstrap()
                .group(transport.loops().get(0))
                .channelFactory(transport.datagramFactory())
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerRemoved(ChannelHandlerContext ctx) {
                        removed.countDown();
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        channel.close(); // as a resolver does, which waits for nothing

        transport.stop().sync();

        assertThat(removed.getCount()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void theKernelIsToldThatNothingWaitsForAnAcknowledgement(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        EventLoop loop = transport.loops().get(0);
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        Channel server = transport
                .server(loop, transport.group(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64, false)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        accepted.complete(ctx.channel());
                    }
                })
                .bind()
                .sync()
                .channel();
        Channel client = transport
                .client(loop, server.localAddress(), 0)
                .handler(new ChannelInboundHandlerAdapter())
                .connect()
                .sync()
                .channel();

        assertThat(client.config().getOption(ChannelOption.TCP_NODELAY)).isTrue();
        assertThat(accepted.get(20, TimeUnit.SECONDS).config().getOption(ChannelOption.TCP_NODELAY))
                .isTrue();

        transport.stop().sync();
    }

    @ParameterizedTest
    @EnumSource
    void aResetThatComesWithTheLastBytesIsNoticed(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 50; i++) {
                CountDownLatch reset = new CountDownLatch(1);
                ChannelInboundHandlerAdapter handler = new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        if (cause instanceof IOException) {
                            reset.countDown();
                        }
                        ctx.close();
                    }
                };
                Channel client = transport
                        .client(transport.loops().get(0), server.getLocalSocketAddress(), 0)
                        .handler(handler)
                        .connect()
                        .sync()
                        .channel();
                try (Socket peer = server.accept()) {
                    peer.setSoLinger(true, 0);
                    peer.getOutputStream().write(1);
                }
                assertThat(reset.await(20, TimeUnit.SECONDS)).isTrue();
                client.closeFuture().sync();
            }
        } finally {
            transport.stop().sync();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenAfterThePeersFinArrivesHoweverSlowlyItIsRead(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CountDownLatch written = new CountDownLatch(1);
            Channel client = transport
                    .client(transport.loops().get(0), server.getLocalSocketAddress(), 0)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                            if (event instanceof ChannelInputShutdownEvent) {
                                // More than the kernel takes at once.
                                ctx.writeAndFlush(Unpooled.directBuffer(WRITTEN).writeZero(WRITTEN))
                                        .addListener(ChannelFutureListener.CLOSE);
                                written.countDown();
                            }
                        }
                    })
                    .connect()
                    .sync()
                    .channel();
            try (Socket peer = server.accept()) {
                peer.setSoTimeout(20_000);
                peer.shutdownOutput();
                assertThat(written.await(20, TimeUnit.SECONDS)).isTrue();
                assertThat(peer.getInputStream().readAllBytes()).hasSize(WRITTEN);
            }
            client.closeFuture().sync();
        } finally {
            transport.stop().sync();
        }
    }
}
