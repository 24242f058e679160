package dev.gateway.demo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A web server to try the gateway with: the tiles page, echoes, big, slow and failing responses, events, a WebSocket
 * echo. It speaks HTTP/1.1 on the loopback address, and shares no code with the data path, so that it is a peer and not
 * a mirror. The paths are those of {@link DemoConnection}.
 */
public final class DemoUpstream implements AutoCloseable {
    private static final int IDLE_SECONDS = 120;

    private final EventLoopGroup group;
    private final Channel server;

    private final Entrances entrances;

    private DemoUpstream(EventLoopGroup group, Channel server, Entrances entrances) {
        this.group = group;
        this.server = server;
        this.entrances = entrances;
    }

    /**
     * Starts the server; it runs until closed.
     *
     * @param port 0 for any free one
     */
    public static DemoUpstream start(int port) throws InterruptedException {
        Entrances entrances = new Entrances();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel server = new ServerBootstrap()
                    .group(group)
                    .channel(NioServerSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, 1024)
                    // One message at a time: a slow reader of an echo stops us from reading more of it.
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS))
                                    .addLast(new HttpServerCodec())
                                    .addLast(new FlowControlHandler())
                                    .addLast(new DemoConnection(entrances));
                        }
                    })
                    .bind(InetAddress.getLoopbackAddress(), port)
                    .sync()
                    .channel();
            return new DemoUpstream(group, server, entrances);
        } catch (Throwable t) {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw t;
        }
    }

    /** Returns the port it listens on. */
    public int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /**
     * Says how the gateway in front is reached, so that pages can lead from one protocol to the other.
     *
     * @param urls by protocol, in order, such as {@code https://localhost:8443}
     */
    public void isReachedBy(Map<String, String> urls) {
        entrances.are(urls);
    }

    /** Stops listening and cuts all connections; returns when that is done. */
    @Override
    public void close() {
        server.close().syncUninterruptibly();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
