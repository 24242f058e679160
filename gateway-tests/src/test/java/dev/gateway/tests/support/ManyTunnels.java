package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Peer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** WebSockets and other tunnels by the thousand, on one thread: their clients, and the server that sends all back. */
public final class ManyTunnels implements AutoCloseable {
    private static final int AT_ONCE = 100; // opened, so that no backlog overflows
    private static final int MOST_OF_A_HEAD = 4096;

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel server;
    private final List<Client> clients = new ArrayList<>();
    private final AtomicInteger closed = new AtomicInteger();
    private int round;

    public ManyTunnels() throws InterruptedException {
        server = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 1024)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    /** Returns the port of what WebSockets and tunnels lead to. */
    public int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** Opens WebSockets at a listener, over TLS if there is a context. */
    public void openWebSockets(int listener, int count, @Nullable SslContext tls) throws InterruptedException {
        String head = String.join(
                "\r\n",
                "GET / HTTP/1.1",
                "Host: gateway.test",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
                "",
                "");
        open(listener, count, tls, head);
    }

    /** Opens tunnels by CONNECT at a listener, over TLS if there is a context. */
    public void openTunnels(int listener, int count, @Nullable SslContext tls) throws InterruptedException {
        String authority = "127.0.0.1:" + port();
        open(listener, count, tls, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    }

    private void open(int listener, int count, @Nullable SslContext tls, String head) throws InterruptedException {
        for (int done = 0; done < count; done += AT_ONCE) {
            CountDownLatch open = new CountDownLatch(Math.min(AT_ONCE, count - done));
            for (long i = open.getCount(); i > 0; i--) {
                Client client = new Client(head, open);
                clients.add(client);
                new Bootstrap()
                        .group(group)
                        .channel(NioSocketChannel.class)
                        .handler(new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel channel) {
                                if (tls != null) {
                                    channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                                }
                                channel.pipeline().addLast(client);
                            }
                        })
                        .connect(InetAddress.getLoopbackAddress(), listener);
            }
            await(open, "tunnels are open");
        }
    }

    /** Sends something on each of them, and waits until all of it has come back. */
    public void assertAllEcho() throws InterruptedException {
        CountDownLatch echoed = new CountDownLatch(clients.size());
        int number = ++round;
        group.execute(() -> clients.forEach(client -> client.send(number, echoed)));
        await(echoed, "tunnels echo");
        assertThat(closed).hasValue(0);
    }

    private void await(CountDownLatch latch, String what) throws InterruptedException {
        boolean all = latch.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(all)
                .as("all %s: %d do not, %d are closed", what, latch.getCount(), closed.get())
                .isTrue();
    }

    @Override
    public void close() {
        hangUp();
    }

    /** Closes all connections, and the server. */
    public void hangUp() {
        group.shutdownGracefully(0, Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly();
    }

    /** One end of a tunnel. */
    private final class Client extends ChannelInboundHandlerAdapter {
        private final String head;
        private final CountDownLatch open;
        private final StringBuilder answer = new StringBuilder();
        private @Nullable ChannelHandlerContext tunnel; // null until it is one
        private ByteBuf awaited = Unpooled.EMPTY_BUFFER;
        private @Nullable CountDownLatch echoed;

        Client(String head, CountDownLatch open) {
            this.head = head;
            this.open = open;
        }

        void send(int number, CountDownLatch latch) {
            if (tunnel != null) {
                echoed = latch;
                // A binary WebSocket frame; other tunnels do not mind.
                awaited = Unpooled.buffer(10).writeShort(0x8284).writeInt(0).writeInt(number);
                tunnel.writeAndFlush(awaited.copy());
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), head));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf data = (ByteBuf) message;
            try {
                take(ctx, data);
            } finally {
                data.release();
            }
        }

        private void take(ChannelHandlerContext ctx, ByteBuf data) {
            while (tunnel == null && data.isReadable()) {
                answer.append((char) data.readByte());
                if (answer.toString().endsWith("\r\n\r\n") && answer.toString().matches("(?s)HTTP/1.1 (101|200) .*")) {
                    tunnel = ctx;
                    open.countDown();
                }
            }
            int length = Math.min(data.readableBytes(), awaited.readableBytes());
            if (length > 0 && ByteBufUtil.equals(data, data.readerIndex(), awaited, awaited.readerIndex(), length)) {
                data.skipBytes(length);
                awaited.skipBytes(length);
                if (!awaited.isReadable() && !data.isReadable() && echoed != null) {
                    echoed.countDown();
                }
            }
            if (data.isReadable() || answer.length() > MOST_OF_A_HEAD) {
                ctx.close(); // something else has come
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            closed.incrementAndGet();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Accepts a WebSocket if that is what comes first, then sends back what comes. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private static final String KEY = "sec-websocket-key: ";

        private final StringBuilder head = new StringBuilder();
        private boolean echoing;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf data = (ByteBuf) message;
            while (!echoing && data.isReadable()) {
                echoing = head.length() == 0 && data.getByte(data.readerIndex()) != 'G';
                if (!echoing) {
                    head.append((char) data.readByte());
                    if (head.toString().endsWith("\r\n\r\n")) {
                        ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), accept()));
                        echoing = true;
                    }
                }
            }
            if (data.isReadable()) {
                ctx.writeAndFlush(data);
            } else {
                data.release();
            }
        }

        private String accept() {
            String key = head.toString()
                    .lines()
                    .filter(line -> line.regionMatches(true, 0, KEY, 0, KEY.length()))
                    .map(line -> line.substring(KEY.length()))
                    .findFirst()
                    .orElse("");
            try {
                byte[] hash = MessageDigest.getInstance("SHA-1")
                        .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII));
                return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Accept: " + Base64.getEncoder().encodeToString(hash) + "\r\n\r\n";
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
