package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What backpressure takes for granted of a connection that is not read, on every transport. */
@Timeout(60)
class PauseTest {
    private static final int PAUSES = 6;
    private static final int BETWEEN_PAUSES = 1 << 20;

    /** What may have been asked for already: a whole receive, whose last buffer may go beyond its end. */
    private static final int MOST = CappedReceive.CAP + ReceiveRing.BUFFER;

    private static final long ENDLESS = 256 << 20;
    private static final int CONNECTIONS = 8;
    private static final long LONG = 4 << 20;

    @ParameterizedTest
    @EnumSource
    void aPausedConnectionTakesInLittleAndLosesNothing(TransportKind kind) throws Exception {
        Assumptions.assumeTrue(kind.unavailabilityCause() == null, kind + " does not work here");
        Transport transport = Transport.start(kind, 1);
        EventLoop loop = transport.loops().get(0);
        Reader reader = new Reader();
        try (ServerSocketChannel server =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Channel channel = transport
                    .client(loop, server.getLocalAddress(), 0)
                    .handler(reader)
                    .connect()
                    .sync()
                    .channel();
            try (SocketChannel peer = server.accept()) {
                peer.configureBlocking(false);
                Source source = new Source(peer);
                for (int i = 0; i < PAUSES; i++) {
                    if (i % 2 == 1) {
                        loop.submit(reader::pauseNow).sync();
                    }
                    source.sendUntilNobodyReads(loop, reader);
                    assertThat(loop.submit(reader::sincePause).get())
                            .as("read in spite of pause %s", i)
                            .isBetween(0L, (long) MOST);
                    loop.submit(reader::resume).sync();
                }
                loop.submit(reader::pauseNoMore).sync();
                peer.configureBlocking(true);
                peer.shutdownOutput();
                assertThat(reader.end.get(20, TimeUnit.SECONDS)).isEqualTo(source.sent);
            }
            channel.close().sync();
        } finally {
            transport.stop().sync();
        }
    }

    /** Which share the buffers of a loop, so that some find none left, and resume before a pause has taken effect. */
    @ParameterizedTest
    @EnumSource
    void connectionsThatPauseForAMomentReadOn(TransportKind kind) throws Exception {
        Assumptions.assumeTrue(kind.unavailabilityCause() == null, kind + " does not work here");
        Transport transport = Transport.start(kind, 1);
        EventLoop loop = transport.loops().get(0);
        ExecutorService peers = Executors.newFixedThreadPool(CONNECTIONS);
        List<Hesitant> readers = new ArrayList<>();
        List<Future<?>> sent = new ArrayList<>();
        try (ServerSocketChannel server =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            for (int i = 0; i < CONNECTIONS; i++) {
                Hesitant reader = new Hesitant();
                readers.add(reader);
                transport
                        .client(loop, server.getLocalAddress(), 0)
                        .handler(reader)
                        .connect()
                        .sync();
                SocketChannel peer = server.accept();
                sent.add(peers.submit(() -> {
                    try (peer) {
                        for (long left = LONG; left > 0; ) {
                            left -= peer.write(ByteBuffer.allocate((int) Math.min(left, 100_000)));
                        }
                    }
                    return null;
                }));
            }
            for (int i = 0; i < CONNECTIONS; i++) {
                assertThat(readers.get(i).end.get(40, TimeUnit.SECONDS))
                        .as("read by connection %s", i)
                        .isEqualTo(LONG);
                sent.get(i).get();
            }
        } finally {
            peers.shutdownNow();
            transport.stop().sync();
        }
    }

    private static byte at(long position) {
        return (byte) (position * 31 + (position >> 10));
    }

    /** Pauses at each turn, and reads on at the next one. Used by the loop. */
    private static final class Hesitant extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Long> end = new CompletableFuture<>();
        private long received;
        private boolean paused;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            received += ((ByteBuf) message).readableBytes();
            ((ByteBuf) message).release();
            if (!paused) {
                paused = true;
                ctx.channel().config().setAutoRead(false);
                ctx.executor().execute(() -> {
                    paused = false;
                    ctx.channel().config().setAutoRead(true);
                });
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                end.complete(received);
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end.completeExceptionally(cause);
        }
    }

    private static final class Source {
        private final SocketChannel peer;
        private long sent;

        Source(SocketChannel peer) {
            this.peer = peer;
        }

        /** Sends until the kernel has taken nothing for many turns of the paused reader's loop. */
        void sendUntilNobodyReads(EventLoop loop, Reader reader) throws Exception {
            ByteBuffer part = ByteBuffer.allocate(50_000);
            for (int still = 0; still < 50; ) {
                part.clear();
                for (long position = sent; part.hasRemaining(); position++) {
                    part.put(at(position));
                }
                int taken = peer.write(part.flip());
                sent += taken;
                boolean paused = loop.submit(reader::isPaused).get();
                still = taken == 0 && paused ? still + 1 : 0;
                assertThat(sent).as("sent, which somebody reads").isLessThan(ENDLESS);
            }
        }
    }

    /** Used by the loop. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Long> end = new CompletableFuture<>();
        private long received;
        private long pauseAt = BETWEEN_PAUSES;
        private long pausedAt = -1;

        @SuppressWarnings("NullAway.Init")
        private ChannelHandlerContext context; // set before the first event

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            byte[] bytes = ByteBufUtil.getBytes((ByteBuf) message);
            ((ByteBuf) message).release();
            for (byte b : bytes) {
                if (b != at(received++)) {
                    end.completeExceptionally(new AssertionError("wrong byte at " + (received - 1)));
                }
            }
            if (pausedAt < 0 && received >= pauseAt) {
                pauseNow();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                end.complete(received);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end.completeExceptionally(cause);
        }

        void pauseNow() {
            pausedAt = pausedAt < 0 ? received : pausedAt;
            context.channel().config().setAutoRead(false);
        }

        void pauseNoMore() {
            pauseAt = Long.MAX_VALUE;
            pausedAt = -1;
            context.channel().config().setAutoRead(true);
        }

        void resume() {
            pausedAt = -1;
            pauseAt = received + BETWEEN_PAUSES;
            context.channel().config().setAutoRead(true);
        }

        boolean isPaused() {
            return pausedAt >= 0;
        }

        long sincePause() {
            return received - pausedAt;
        }
    }
}
