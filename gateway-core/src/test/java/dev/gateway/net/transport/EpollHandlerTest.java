package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads, writes and ends of real connections, and how often the handler calls epoll_ctl for one. */
@Timeout(60)
class EpollHandlerTest {
    private static final int MANY = 10_000; // more than one read takes
    private static final int WRITTEN = 16 << 20; // more than the kernel takes at once

    private final Reader reader = new Reader();
    private volatile @Nullable Kernel kernel;

    @SuppressWarnings("NullAway.Init")
    private EventLoopGroup group;

    @SuppressWarnings("NullAway.Init")
    private EventLoop loop;

    @SuppressWarnings("NullAway.Init")
    private Channel channel;

    @SuppressWarnings("NullAway.Init")
    private Socket peer;

    @BeforeEach
    void connect() throws Exception {
        assumeTrue(TransportKind.EPOLL.unavailabilityCause() == null, "no epoll here");
        group = new MultiThreadIoEventLoopGroup(
                1, WrappedHandler.factory(EpollIoHandler.newFactory(), (epoll, executor) -> {
                    Kernel made = new Kernel(epoll);
                    kernel = made;
                    return new EpollHandler(made);
                }));
        loop = group.next();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            channel = new Bootstrap()
                    .group(loop)
                    .channel(EpollSocketChannel.class)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .handler(reader)
                    .connect(server.getLocalSocketAddress())
                    .sync()
                    .channel();
            peer = server.accept();
        }
        turns();
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }

    private Kernel kernel() {
        return Objects.requireNonNull(kernel);
    }

    /** Lets the loop look at its sockets twice: what it was asked for before is done by then, and what came of that. */
    private void turns() throws Exception {
        long until = loop.submit(() -> kernel().turns).get() + 2;
        while (loop.submit(() -> kernel().turns).get() < until) {
            Thread.onSpinWait(); // several tasks may run in one turn
        }
    }

    private void read(boolean wanted) {
        channel.config().setAutoRead(wanted);
    }

    /** Has something done by the peer while the loop is busy: it hears of it all at once. */
    private void atOnce(Action action) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(done::join);
        try {
            action.run();
        } finally {
            done.complete(null);
        }
    }

    private interface Action {
        void run() throws IOException;
    }

    @Test
    void theKernelIsToldOnlyTheLastOfSeveralWishes() throws Exception {
        loop.submit(() -> {
                    kernel().told.clear();
                    read(false);
                    read(true);
                    read(false);
                })
                .sync();
        turns();
        assertThat(kernel().told).hasSize(1);
    }

    @Test
    void theKernelIsNotToldAWishThatIsTakenBack() throws Exception {
        loop.submit(() -> {
                    kernel().told.clear();
                    read(false);
                    read(true);
                })
                .sync();
        turns();
        assertThat(kernel().told).isEmpty();
        peer.getOutputStream().write(1);
        reader.await(1);
    }

    @Test
    void aConnectionThatIsNotReadMayBeWrittenAndReadOn() throws Exception {
        loop.submit(() -> read(false)).sync();
        turns();
        channel.writeAndFlush(channel.alloc().directBuffer(WRITTEN).writeZero(WRITTEN));
        assertThat(peer.getInputStream().readNBytes(WRITTEN)).hasSize(WRITTEN);
        peer.getOutputStream().write(new byte[MANY]);
        turns();
        assertThat(reader.received).isZero();
        loop.submit(() -> read(true)).sync();
        reader.await(MANY);
    }

    /** The kernel forgets it by itself then, which is a call less. */
    @Test
    void aConnectionIsNotTakenOutOfEpollBeforeItIsClosed() throws Exception {
        channel.close().sync();
        turns();
        assertThat(kernel().openWhenTakenOut).containsExactly(false);
        assertThat(peer.getInputStream().read()).isEqualTo(-1);
    }

    /** Since others may have the socket, too, for whom it is not closed. */
    @Test
    void aListeningSocketIsTakenOutOfEpoll() throws Exception {
        new ServerBootstrap()
                .group(group)
                .channel(EpollServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel()
                .close()
                .sync();
        turns();
        assertThat(kernel().openWhenTakenOut).containsExactly(true);
    }

    @Test
    void aConnectionThatEpollDoesNotTakeIsClosed() throws Exception {
        kernel().refuses = true;
        loop.submit(() -> read(false)).sync();
        assertThat(channel.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
    }

    /** epoll reports a reset once, and again only after another call of epoll_ctl. */
    @Test
    void aResetThatComesAsReadingPausesClosesTheConnection() throws Exception {
        reader.pauses = true;
        atOnce(this::sendAndReset);
        assertThat(channel.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(reader.received).isBetween(1, MANY - 1);
    }

    @Test
    void whatCameBeforeAResetIsReadAfterAPauseOfAMoment() throws Exception {
        reader.pauses = true;
        reader.readsOnSoon = true;
        atOnce(this::sendAndReset);
        assertThat(channel.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(reader.received).isEqualTo(MANY);
    }

    private void sendAndReset() throws IOException {
        peer.getOutputStream().write(new byte[MANY]);
        peer.setSoLinger(true, 0);
        peer.close();
    }

    @Test
    void aFinIsReadInTheTurnOfWhatCameBeforeIt() throws Exception {
        atOnce(() -> {
            peer.getOutputStream().write(1);
            peer.shutdownOutput();
        });
        assertThat(reader.endedInTurn.get(20, TimeUnit.SECONDS)).isEqualTo(reader.lastReadInTurn);
    }

    @Test
    void aFinIsNotReadWhereReadingPauses() throws Exception {
        reader.pauses = true;
        atOnce(() -> {
            peer.getOutputStream().write(new byte[MANY]);
            peer.shutdownOutput();
        });
        reader.await(1);
        turns();
        assertThat(reader.received).isLessThan(MANY);
        assertThat(reader.endedInTurn).isNotDone();
        reader.pauses = false;
        loop.submit(() -> read(true)).sync();
        reader.endedInTurn.get(20, TimeUnit.SECONDS);
        assertThat(reader.received).isEqualTo(MANY);
    }

    /** Written by the loop only. */
    private final class Reader extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Long> endedInTurn = new CompletableFuture<>();
        private volatile boolean pauses;
        private volatile boolean readsOnSoon;
        private int sum;
        private volatile int received; // a copy of sum for other threads
        private volatile long lastReadInTurn;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            sum += ((ByteBuf) message).readableBytes();
            received = sum;
            ((ByteBuf) message).release();
            lastReadInTurn = kernel().turns;
            if (pauses) {
                read(false);
                if (readsOnSoon) {
                    pauses = false;
                    ctx.executor().execute(() -> read(true));
                }
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                endedInTurn.complete(kernel().turns);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        /** Waits until so many bytes have been read. */
        void await(int bytes) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (received < bytes) {
                assertThat(System.nanoTime()).as("%s bytes came", received).isLessThan(deadline);
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Netty's handler, which passes on to epoll what it is told; records that. */
    private static final class Kernel implements IoHandler {
        private final IoHandler epoll;
        private final List<IoOps> told = new CopyOnWriteArrayList<>();
        private final List<Boolean> openWhenTakenOut = new CopyOnWriteArrayList<>();
        private volatile boolean refuses;
        private long turns; // of the loop, which alone knows

        Kernel(IoHandler epoll) {
            this.epoll = epoll;
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            IoRegistration registration = epoll.register(handle);
            return new IoRegistration() {
                @Override
                @SuppressWarnings("TypeParameterUnusedInFormals") // the interface's
                public <T> T attachment() {
                    return registration.attachment();
                }

                @Override
                public long submit(IoOps ops) {
                    if (refuses) {
                        throw new UncheckedIOException(new IOException("made by the test"));
                    }
                    told.add(ops);
                    return registration.submit(ops);
                }

                @Override
                public boolean isValid() {
                    return registration.isValid();
                }

                @Override
                public boolean cancel() {
                    if (registration.isValid()) { // Netty does it twice
                        openWhenTakenOut.add(((EpollIoHandle) handle).fd().isOpen());
                    }
                    return registration.cancel();
                }
            };
        }

        @Override
        public void initialize() {
            epoll.initialize();
        }

        @Override
        public int run(IoHandlerContext context) {
            turns++;
            return epoll.run(context);
        }

        @Override
        public void prepareToDestroy() {
            epoll.prepareToDestroy();
        }

        @Override
        public void destroy() {
            epoll.destroy();
        }

        @Override
        public void wakeup() {
            epoll.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> handleType) {
            return epoll.isCompatible(handleType);
        }
    }
}
