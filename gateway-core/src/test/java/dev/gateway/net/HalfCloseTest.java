package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the gateway takes for granted of a connection whose peer has ended its direction, on every transport. */
@Timeout(60)
class HalfCloseTest {
    private static final int MANY_BYTES = 32 << 20; // more than the kernel holds
    private static final int SENT = 200_000;

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();
    private volatile long announcedAt = -1; // so many bytes
    private @Nullable Transport transport;
    private int port;

    private void start(TransportKind kind) throws InterruptedException {
        Assumptions.assumeTrue(kind.unavailabilityCause() == null, kind + " does not work here");
        Transport started = Transport.start(kind, 1);
        transport = started;
        ServerBootstrap server = started.server(
                started.loops().get(0),
                started.group(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                16,
                false);
        Channel socket = server.childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Recorder());
                        accepted.add(channel);
                    }
                })
                .bind()
                .sync()
                .channel();
        port = ((InetSocketAddress) socket.localAddress()).getPort();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (transport != null) {
            transport.stop().sync();
        }
    }

    @ParameterizedTest
    @EnumSource(TransportKind.class)
    void takesAllThatIsWrittenAfterwards(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            client.shutdownOutput();
            awaitEvent("end");
            roundTrip(channel); // and whatever the loop had to do about the end
            channel.eventLoop().execute(() -> {
                for (int written = 0; written < MANY_BYTES; written += 1 << 20) {
                    channel.write(channel.alloc().directBuffer(1 << 20).writeZero(1 << 20));
                }
                channel.flush();
            });
            roundTrip(channel);
            InputStream in = client.getInputStream();
            assertThat(in.readNBytes(MANY_BYTES).length).isEqualTo(MANY_BYTES);
        }
    }

    @ParameterizedTest
    @EnumSource(TransportKind.class)
    void isReadToItsEndAfterAPause(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            channel.config().setAutoRead(false);
            client.getOutputStream().write(new byte[SENT]);
            client.shutdownOutput();
            roundTrip(channel);
            roundTrip(channel);
            if (kind == TransportKind.EPOLL) {
                assertThat(bytes.get()).as("read in spite of the pause").isLessThan(SENT);
            }
            channel.config().setAutoRead(true);
            awaitEvent("end");
            assertThat(failures).isEmpty();
            assertThat(bytes).hasValue(SENT + 2);
        }
    }

    /** A FIN that has come with the last bytes. Who sends a request in between relies on being able to send it again. */
    @ParameterizedTest
    @EnumSource(TransportKind.class)
    void isAnnouncedAheadOfTheLastBytesByEpollAlone(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            CompletableFuture<Void> sent = new CompletableFuture<>();
            channel.eventLoop().execute(sent::join);
            client.getOutputStream().write(new byte[10]);
            client.shutdownOutput();
            sent.complete(null);
            awaitEvent("end");
            assertThat(bytes).hasValue(10);
            assertThat(announcedAt).isEqualTo(kind == TransportKind.EPOLL ? 0 : -1);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"EPOLL"}) // the others notice it at the next write
    void isClosedByAReset(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            client.shutdownOutput();
            awaitEvent("end");
            roundTrip(channel);
            client.setSoLinger(true, 0);
        }
        awaitEvent("closed");
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"EPOLL"})
    void isClosedByAResetInAPause(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            channel.config().setAutoRead(false);
            client.getOutputStream().write(new byte[SENT]);
            roundTrip(channel);
            client.setSoLinger(true, 0);
        }
        awaitEvent("closed");
    }

    @ParameterizedTest
    @EnumSource(TransportKind.class)
    void mayBeAbortedBetweenItsCloseAndTheNewsOfIt(TransportKind kind) throws Exception {
        start(kind);
        try (Socket client = connect()) {
            Channel channel = accepted();
            client.getOutputStream().write(1);
            awaitEvent("read");
            channel.eventLoop()
                    .submit(() -> {
                        channel.close(); // as a write does that finds it reset
                        HalfClose.abort(channel);
                    })
                    .get(20, TimeUnit.SECONDS);
            awaitEvent("closed"); // by FIN or reset: io_uring closes only once its read is cancelled
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private Channel accepted() throws InterruptedException {
        return Objects.requireNonNull(accepted.poll(20, TimeUnit.SECONDS), "no connection came");
    }

    /** Lets the loop look at its sockets once: what reached them before is handled. */
    private void roundTrip(Channel channel) throws Exception {
        channel.eventLoop().submit(() -> {}).get(20, TimeUnit.SECONDS);
        try (Socket other = connect()) {
            other.getOutputStream().write(1);
            accepted();
            awaitEvent("read");
        }
        awaitEvent("end");
    }

    private void awaitEvent(String wanted) throws InterruptedException {
        String event;
        do {
            event = Objects.requireNonNull(events.poll(20, TimeUnit.SECONDS), () -> "no " + wanted);
        } while (!event.equals(wanted));
    }

    private final class Recorder extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            bytes.addAndGet(((ByteBuf) message).readableBytes());
            ((ByteBuf) message).release();
            events.add("read");
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                events.add("end");
            } else if (HalfClose.isInputEnding(event)) {
                announcedAt = bytes.get();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            events.add("closed");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
            ctx.close();
        }
    }
}
