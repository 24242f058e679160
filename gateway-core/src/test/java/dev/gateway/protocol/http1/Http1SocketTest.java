package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.time.TimerWheel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What only a kernel does: FIN, resets, and a client that does not read. */
@Timeout(60)
class Http1SocketTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    private final BlockingQueue<Request> requests = new ArrayBlockingQueue<>(100);
    private final BlockingQueue<Failure> resets = new ArrayBlockingQueue<>(100);
    private @Nullable EventLoopGroup loops;
    private int port;

    private boolean halfClose;

    private void start(boolean epoll) {
        Assumptions.assumeTrue(!epoll || Epoll.isAvailable());
        EventLoopGroup group =
                new MultiThreadIoEventLoopGroup(1, epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
        loops = group;
        Channel channel = new ServerBootstrap()
                .group(group)
                .channel(epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        ConnectionInfo info = new ConnectionInfo(0, "test", HttpVersion.HTTP_1_1, null, null, null);
                        child.pipeline()
                                .addLast(new Http1ServerConnection(
                                        info,
                                        new Handler(child.eventLoop()),
                                        ConnectionObserver.NONE,
                                        new TimerWheel(child.eventLoop()),
                                        new Http1ServerSettings(
                                                HeadLimits.DEFAULT, new ConnectionTimeouts(0, 0, 0, 0, 200), halfClose),
                                        null));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
        port = ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @AfterEach
    void stop() {
        EventLoopGroup group = loops;
        if (group != null) {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    private static void send(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static String readAll(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(30, TimeUnit.SECONDS);
        assertTrue(taken != null, "something came");
        return taken;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatSendsFinAfterItsRequestGetsItsResponseIfItMay(boolean epoll) throws Exception {
        halfClose = true;
        start(epoll);
        try (Socket socket = connect()) {
            send(socket, GET);
            socket.shutdownOutput();
            Request request = take(requests);
            request.answer(200, "late").get(30, TimeUnit.SECONDS);
            String response = readAll(socket);
            assertTrue(response.startsWith("HTTP/1.1 200 OK\r\n"), response);
            assertTrue(response.endsWith("late"), response);
            assertTrue(resets.isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatClosesWhileTheResponseIsPendingHasGivenUp(boolean epoll) throws Exception {
        start(epoll);
        try (Socket socket = connect()) {
            send(socket, GET);
            take(requests);
        }
        assertEquals(Cause.CLIENT_CLOSED, take(resets).cause());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAbortIsNoticedWhileTheResponseIsPending(boolean epoll) throws Exception {
        start(epoll);
        try (Socket socket = connect()) {
            send(socket, GET);
            take(requests);
            socket.setSoLinger(true, 0);
        }
        assertEquals(Cause.CLIENT_CLOSED, take(resets).cause());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatUploadsTooMuchStillReadsWhy(boolean epoll) throws Exception {
        start(epoll);
        try (Socket socket = connect()) {
            socket.setReceiveBufferSize(4096);
            send(socket, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 8000000\r\n\r\n");
            take(requests).answer(413, "too much").get(30, TimeUnit.SECONDS);
            // More than any socket buffer holds; a reset would make this write or the read below fail.
            send(socket, "x".repeat(8_000_000));
            String response = readAll(socket);
            assertTrue(response.startsWith("HTTP/1.1 413 "), response);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatDoesNotReadIsGivenUp(boolean epoll) throws Exception {
        start(epoll);
        try (Socket socket = connect()) {
            send(socket, GET);
            take(requests).flood();
            assertEquals(Cause.CLIENT_TIMEOUT, take(resets).cause());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aResponseCutShortDoesNotLookComplete(boolean epoll) throws Exception {
        start(epoll);
        try (Socket socket = connect()) {
            send(socket, "GET / HTTP/1.0\r\n\r\n");
            take(requests).cutShort().get(30, TimeUnit.SECONDS);
            InputStream in = socket.getInputStream();
            boolean clean;
            try {
                in.readAllBytes();
                clean = true;
            } catch (IOException reset) {
                clean = false;
            }
            assertFalse(clean);
        }
    }

    /** A request on the server's loop. */
    private final class Request implements StreamEvents {
        private final ServerStream stream;
        private final Executor loop;
        private boolean flooding;

        Request(ServerStream stream, Executor loop) {
            this.stream = stream;
            this.loop = loop;
        }

        CompletableFuture<Void> answer(int status, String body) {
            return CompletableFuture.runAsync(
                    () -> {
                        ByteBuf data = Buffers.of(body);
                        stream.head(new ResponseHead(status, null, new Fields(), body.length()), false);
                        stream.data(data, true);
                        stream.flush();
                    },
                    loop);
        }

        CompletableFuture<Void> cutShort() {
            return CompletableFuture.runAsync(
                    () -> {
                        stream.head(new ResponseHead(200, null, new Fields(), -1), false);
                        stream.data(Buffers.of(new byte[10]), false);
                        stream.flush();
                        stream.reset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "test"));
                    },
                    loop);
        }

        void flood() {
            loop.execute(() -> {
                flooding = true;
                stream.head(new ResponseHead(200, null, new Fields(), -1), false);
                onWritable();
            });
        }

        @Override
        public void onWritable() {
            while (flooding && stream.isWritable()) {
                stream.data(Buffers.of(new byte[16 * 1024]), false);
            }
            stream.flush();
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            data.release();
        }

        @Override
        public void onTrailers(Fields trailers) {}

        @Override
        public void onReadComplete() {}

        @Override
        public void onReset(Failure failure) {
            flooding = false;
            resets.add(failure);
        }
    }

    private final class Handler implements RequestHandler {
        private final Executor loop;

        Handler(Executor loop) {
            this.loop = loop;
        }

        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            Request request = new Request(stream, loop);
            requests.add(request);
            return request;
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            stream.flush();
        }
    }
}
