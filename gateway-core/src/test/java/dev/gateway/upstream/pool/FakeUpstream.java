package dev.gateway.upstream.pool;

import dev.gateway.net.tls.HandshakeCallback;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.transport.Transport;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * An upstream to be talked to: tells in each response which connection the request came on. The path {@code /hold} is
 * answered when the test says so, {@code /keep-N} with a keep-alive hint of N seconds, and {@code /http1} over HTTP/2 by
 * HTTP_1_1_REQUIRED.
 */
final class FakeUpstream implements AutoCloseable {
    final List<Channel> connections = new CopyOnWriteArrayList<>();
    final BlockingQueue<Runnable> held = new LinkedBlockingQueue<>();
    /** Whether HTTP/2 clients are told that they may send extended CONNECT. */
    volatile boolean extendedConnect;
    /** Whether nothing answers on further connections, not even TLS. */
    volatile boolean deaf;

    private final Channel server;
    private final boolean http2;
    private final int maxStreams;
    private final @Nullable ServerTls tls;

    FakeUpstream(Transport transport, SocketAddress address, boolean http2, int maxStreams, @Nullable ServerTls tls)
            throws InterruptedException {
        this.http2 = http2;
        this.maxStreams = maxStreams;
        this.tls = tls;
        this.server = transport
                .server(transport.loops().get(0), transport.group(), address, 64, false)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connections.add(channel);
                        if (!deaf) {
                            begin(channel);
                        }
                    }
                })
                .bind()
                .sync()
                .channel();
    }

    private void begin(Channel channel) {
        if (tls == null) {
            speak(channel, http2);
            return;
        }
        tls.secure(channel.pipeline(), new HandshakeCallback() {
            @Override
            public void onSecured(Channel secured, @Nullable String protocol, TlsInfo info) {
                speak(secured, "h2".equals(protocol));
            }

            @Override
            public void onHandshakeFailed(Channel failed, Throwable failure) {
                failed.close();
            }
        });
    }

    private void speak(Channel channel, boolean h2) {
        if (h2) {
            channel.pipeline()
                    .addLast(Http2FrameCodecBuilder.forServer()
                            .initialSettings(new Http2Settings()
                                    .maxConcurrentStreams(maxStreams)
                                    .connectProtocolEnabled(extendedConnect))
                            .build())
                    .addLast(new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel stream) {
                            stream.pipeline().addLast(new Http2Answer());
                        }
                    }));
        } else {
            channel.pipeline().addLast(new Http1Answer());
        }
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private int number(Channel connection) {
        return connections.indexOf(connection) + 1;
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
        for (Channel connection : connections) {
            connection.close().syncUninterruptibly();
        }
        if (tls != null) {
            tls.close();
        }
    }

    private final class Http1Answer extends ChannelInboundHandlerAdapter {
        private final StringBuilder head = new StringBuilder();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            head.append(((ByteBuf) message).toString(StandardCharsets.US_ASCII));
            ReferenceCountUtil.release(message);
            if (head.indexOf("\r\n\r\n") < 0) {
                return;
            }
            String path = head.toString().split(" ")[1];
            head.setLength(0);
            String hint = path.startsWith("/keep-") ? "Keep-Alive: timeout=" + path.substring(6) + "\r\n" : "";
            String response = "HTTP/1.1 200 OK\r\nX-Connection: " + number(ctx.channel()) + "\r\n" + hint
                    + "Content-Length: 0\r\n\r\n";
            Runnable answer = () -> ctx.writeAndFlush(Buffers.of(response));
            if (path.equals("/hold")) {
                held.add(answer);
            } else {
                answer.run();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private final class Http2Answer extends SimpleChannelInboundHandler<Object> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Object frame) {
            if (frame instanceof Http2HeadersFrame headers) {
                Runnable answer = () -> ctx.writeAndFlush(new DefaultHttp2HeadersFrame(
                        new DefaultHttp2Headers()
                                .status("200")
                                .addInt("x-connection", number(ctx.channel().parent())),
                        true));
                String path = headers.headers().path().toString();
                if (path.equals("/http1")) {
                    ctx.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.HTTP_1_1_REQUIRED));
                } else if (path.equals("/hold")) {
                    held.add(answer);
                } else {
                    answer.run();
                }
            }
        }
    }
}
