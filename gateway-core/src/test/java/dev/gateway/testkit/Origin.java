package dev.gateway.testkit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** The server behind the gateway. A field of the request says how it behaves, since filters may change the path. */
final class Origin implements AutoCloseable {
    static final String BEHAVIOR = "x-testkit";
    private static final int PIECE = 16 << 10;

    /** What it does with a request. */
    enum Behavior {
        /** Answers with the request's line and fields. */
        TELL,
        /** Answers with the request's body, piece by piece, and its trailers. */
        ECHO,
        /** Answers 500 with a body. */
        ERROR,
        /** Closes without an answer. */
        CLOSE,
        /** Closes in the middle of the response. */
        BREAK,
        /** Answers with 1 MiB. */
        MUCH
    }

    private final Channel server;

    private Origin(Channel server) {
        this.server = server;
    }

    static Origin start(EventLoopGroup loop, Protocol protocol) {
        return new Origin(new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        protocol.serve(connection.pipeline(), Exchanges::new);
                    }
                })
                .bind("127.0.0.1", 0)
                .syncUninterruptibly()
                .channel());
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
    }

    /** Answers the requests of a connection or a stream. Requests are small, so it may answer before it has read one. */
    private static final class Exchanges extends SimpleChannelInboundHandler<HttpObject> {
        private Behavior behavior = Behavior.TELL;

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpRequest request) {
                begin(ctx, request);
            }
            if (message instanceof HttpContent content && behavior == Behavior.ECHO) {
                ctx.writeAndFlush(content.retain());
            }
        }

        private void begin(ChannelHandlerContext ctx, HttpRequest request) {
            behavior = Behavior.valueOf(request.headers().get(BEHAVIOR, Behavior.TELL.name()));
            switch (behavior) {
                case TELL -> {
                    StringBuilder text = new StringBuilder(request.method() + " " + request.uri() + "\n");
                    request.headers().forEach(field -> text.append(field.getKey())
                            .append(": ")
                            .append(field.getValue())
                            .append('\n'));
                    answer(ctx, HttpResponseStatus.OK, text.toString());
                }
                case ECHO -> ctx.writeAndFlush(head(HttpResponseStatus.OK));
                case ERROR -> answer(ctx, HttpResponseStatus.INTERNAL_SERVER_ERROR, "an error of the upstream\n");
                case CLOSE -> ctx.close();
                case BREAK -> {
                    ctx.write(head(HttpResponseStatus.OK));
                    ctx.writeAndFlush(piece(ctx)).addListener(written -> ctx.close());
                }
                case MUCH -> {
                    ctx.write(head(HttpResponseStatus.OK));
                    for (int i = 0; i < 64; i++) {
                        ctx.write(piece(ctx));
                    }
                    ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
                }
            }
        }

        private static void answer(ChannelHandlerContext ctx, HttpResponseStatus status, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
            head.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
            HttpUtil.setContentLength(head, bytes.length);
            ctx.write(head);
            ctx.writeAndFlush(
                    new DefaultLastHttpContent(ctx.alloc().buffer(bytes.length).writeBytes(bytes)));
        }

        private static HttpResponse head(HttpResponseStatus status) {
            HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
            head.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
            HttpUtil.setTransferEncodingChunked(head, true);
            return head;
        }

        private static HttpContent piece(ChannelHandlerContext ctx) {
            ByteBuf data = ctx.alloc().buffer(PIECE);
            return new DefaultHttpContent(
                    data.writeBytes("abcdefghijklmno\n".repeat(PIECE / 16).getBytes(StandardCharsets.UTF_8)));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // the gateway has closed its side, as some scenarios want
        }
    }
}
