package dev.gateway.testkit;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A client with one exchange on a connection of its own. Closing it aborts what has not ended. */
final class Client implements AutoCloseable {
    private final HttpMethod method;
    private final Channel connection;
    private final Channel exchange;
    private final boolean stopsReading;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private @Nullable HttpResponse head;

    /** Completed when the final head is there, or with a failure if none comes. */
    final CompletableFuture<HttpResponse> begun = new CompletableFuture<>();

    /** Completed when the response has ended, or with a failure if it breaks off. */
    final CompletableFuture<Answer> ended = new CompletableFuture<>();

    /**
     * Connects and begins an exchange.
     *
     * @param stopsReading whether it reads nothing after the head of the response
     */
    Client(EventLoopGroup loop, Protocol protocol, int port, HttpMethod method, boolean stopsReading) {
        this.method = method;
        this.stopsReading = stopsReading;
        connection = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        protocol.prepare(channel.pipeline());
                    }
                })
                .connect("127.0.0.1", port)
                .syncUninterruptibly()
                .channel();
        exchange = protocol.open(connection, new Response());
    }

    /** Sends the head of the request, and with it the end of one that has no body. */
    void begin(Origin.Behavior behavior, Map<String, String> fields, boolean last) {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, "/testkit");
        request.headers().set(HttpHeaderNames.HOST, "testkit.example").set(Origin.BEHAVIOR, behavior.name());
        fields.forEach(request.headers()::set);
        if (last) {
            exchange.write(request);
            exchange.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        } else {
            HttpUtil.setTransferEncodingChunked(request, true);
            exchange.writeAndFlush(request);
        }
    }

    /** Sends a piece of the body, and returns when it is on its way, or the exchange has ended. */
    void piece(String text) {
        exchange.writeAndFlush(new DefaultHttpContent(buffer(text))).awaitUninterruptibly();
    }

    /** Ends the request with trailers. */
    void end() {
        LastHttpContent last = new DefaultLastHttpContent(buffer("the end\n"));
        last.trailingHeaders().set("x-testkit-trailer", "1");
        exchange.writeAndFlush(last);
    }

    private ByteBuf buffer(String text) {
        return exchange.alloc().buffer().writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        exchange.close().awaitUninterruptibly();
        connection.close().awaitUninterruptibly();
    }

    private final class Response extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpResponse response && response.status().code() >= 200) {
                head = response;
                ctx.channel().config().setAutoRead(!stopsReading);
                begun.complete(response);
            }
            HttpResponse answer = head;
            if (answer != null && message instanceof HttpContent content) {
                byte[] bytes = new byte[content.content().readableBytes()];
                content.content().readBytes(bytes);
                body.writeBytes(bytes);
                if (content instanceof LastHttpContent) {
                    ended.complete(new Answer(
                            method.name(),
                            answer.status().code(),
                            answer.headers(),
                            body.toString(StandardCharsets.UTF_8)));
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(new IOException("the gateway has closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(cause);
            ctx.close();
        }

        private void fail(Throwable cause) {
            begun.completeExceptionally(cause);
            ended.completeExceptionally(cause);
        }
    }
}
