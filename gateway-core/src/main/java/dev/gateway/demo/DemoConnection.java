package dev.gateway.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of the demo upstream. Messages are asked for one at a time, and the next request only when the last is
 * answered, so memory is bounded and pipelined requests are answered in order.
 *
 * <ul>
 *   <li>{@code /}, {@code /tiles}: a page of 180 images; {@code ?latency=} milliseconds (to 10 000) delay each
 *   <li>{@code /echo}: request line, fields, an empty line and the body, streamed; {@code /echo?raw}: the body only,
 *       with its type, length and trailers
 *   <li>{@code /bytes/{n}}: n bytes (to 100 GiB), the one at position i being i modulo 251
 *   <li>{@code /delay/{ms}}: an answer after that time (to 60 000)
 *   <li>{@code /status/{code}}: that status, 200 to 599
 *   <li>{@code /headers}: the request's fields
 *   <li>{@code /sse}: an event each second, {@code ?count=} of them (to 1 000), {@code ?interval=} milliseconds apart
 *   <li>{@code /ws}: a WebSocket that echoes
 * </ul>
 */
final class DemoConnection extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(DemoConnection.class);
    private static final long MAX_BYTES = 100L << 30;
    private static final int MAX_LATENCY = 10_000;
    private static final int MAX_DELAY = 60_000;
    private static final int MAX_EVENTS = 1_000;
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final ByteBuf BLOCK = block();

    private final Entrances entrances;
    private @Nullable HttpRequest request; // null between requests
    private final ReadPacing pacing = new ReadPacing();
    private boolean echoing;
    private @Nullable Runnable whenWritable;

    DemoConnection(Entrances entrances) {
        this.entrances = entrances;
    }

    private static ByteBuf block() {
        byte[] bytes = new byte[251 * 256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return Unpooled.unreleasableBuffer(
                Unpooled.directBuffer(bytes.length).writeBytes(bytes).asReadOnly());
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        pacing.read(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        pacing.onRead();
        if (message instanceof HttpRequest head) {
            onRequest(ctx, head);
        }
        if (message instanceof HttpContent content) {
            onContent(ctx, content);
        } else if (!(message instanceof HttpRequest)) {
            ReferenceCountUtil.release(message);
        }
    }

    private void onRequest(ChannelHandlerContext ctx, HttpRequest head) {
        request = head;
        echoing = false;
        if (head.decoderResult().isFailure()) {
            HttpUtil.setKeepAlive(head, false);
            respond(ctx, HttpResponseStatus.BAD_REQUEST, TEXT, text("not a request\n"));
            return;
        }
        if (HttpUtil.is100ContinueExpected(head)) {
            ctx.writeAndFlush(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
        if (head.uri().equals("/echo") || head.uri().startsWith("/echo?")) {
            startEcho(ctx, head);
        }
        pacing.read(ctx);
    }

    private void onContent(ChannelHandlerContext ctx, HttpContent content) {
        HttpRequest head = request;
        if (head == null) {
            content.release(); // what follows a request that was refused
            return;
        }
        if (content.decoderResult().isFailure()) {
            content.release();
            ctx.close();
            return;
        }
        if (echoing && !(content instanceof LastHttpContent)) {
            ctx.writeAndFlush(content);
            pacing.readWhenWritable(ctx);
        } else if (echoing) {
            LastHttpContent last = new DefaultLastHttpContent(content.content());
            last.trailingHeaders().set(((LastHttpContent) content).trailingHeaders());
            finish(ctx, last);
        } else {
            content.release();
            if (content instanceof LastHttpContent) {
                answer(ctx, head);
            } else {
                pacing.read(ctx);
            }
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        pacing.onReadComplete(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (!pacing.onWritabilityChanged(ctx)
                && whenWritable != null
                && ctx.channel().isWritable()) {
            whenWritable.run();
        }
    }

    private void answer(ChannelHandlerContext ctx, HttpRequest head) {
        try {
            QueryStringDecoder uri = new QueryStringDecoder(head.uri());
            String[] path = uri.path().split("/", -1);
            String argument = path.length == 3 ? path[2] : "";
            switch (path.length > 1 && path.length < 4 ? path[1] : "?") {
                case "" -> page(ctx, uri);
                case "tiles" -> {
                    if (path.length == 2) {
                        page(ctx, uri);
                    } else {
                        tile(ctx, uri, argument);
                    }
                }
                case "bytes" -> bytes(ctx, number(argument, MAX_BYTES));
                case "delay" -> {
                    long millis = number(argument, MAX_DELAY);
                    later(
                            ctx,
                            millis,
                            () -> respond(ctx, HttpResponseStatus.OK, TEXT, text("after " + millis + " ms\n")));
                }
                case "status" -> status(ctx, (int) number(argument, 599));
                case "headers" -> respond(ctx, HttpResponseStatus.OK, TEXT, text(fields(head)));
                case "sse" -> events(ctx, uri);
                case "ws" -> upgrade(ctx, head);
                default -> respond(ctx, HttpResponseStatus.NOT_FOUND, TEXT, text("nothing here\n"));
            }
        } catch (IllegalArgumentException e) {
            respond(ctx, HttpResponseStatus.BAD_REQUEST, TEXT, text(e.getMessage() + "\n"));
        }
    }

    private static long number(String text, long most) {
        boolean digits = !text.isEmpty() && text.length() < 16 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!digits || Long.parseLong(text) > most) {
            throw new IllegalArgumentException("not a number from 0 to " + most);
        }
        return Long.parseLong(text);
    }

    private static int parameter(QueryStringDecoder uri, String name, int otherwise, int most) {
        List<String> values = uri.parameters().get(name);
        return values == null ? otherwise : (int) number(values.get(0), most);
    }

    private static void later(ChannelHandlerContext ctx, long millis, Runnable task) {
        ctx.executor()
                .schedule(
                        () -> {
                            if (ctx.channel().isActive()) {
                                task.run();
                            }
                        },
                        millis,
                        TimeUnit.MILLISECONDS);
    }

    private static String fields(HttpRequest head) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> field : head.headers()) {
            text.append(field.getKey()).append(": ").append(field.getValue()).append('\n');
        }
        return text.toString();
    }

    private void page(ChannelHandlerContext ctx, QueryStringDecoder uri) {
        String html = Tiles.html(parameter(uri, "latency", 0, MAX_LATENCY), entrances);
        Tiles.picture(); // painted while the page is on its way
        respond(ctx, HttpResponseStatus.OK, "text/html; charset=utf-8", text(html));
    }

    private void tile(ChannelHandlerContext ctx, QueryStringDecoder uri, String name) {
        if (!name.endsWith(".png")) {
            throw new IllegalArgumentException("not a tile");
        }
        int tile = (int) number(name.substring(0, name.length() - 4), Tiles.COUNT - 1L);
        int latency = parameter(uri, "latency", 0, MAX_LATENCY);
        Tiles.picture()
                .whenComplete((tiles, failure) -> later(ctx, latency, () -> {
                    if (failure != null) {
                        log.error("The demo could not paint its picture", failure);
                        respond(ctx, HttpResponseStatus.INTERNAL_SERVER_ERROR, TEXT, text("no picture\n"));
                    } else {
                        respond(ctx, HttpResponseStatus.OK, "image/png", Unpooled.wrappedBuffer(tiles[tile]));
                    }
                }));
    }

    private void status(ChannelHandlerContext ctx, int code) {
        if (code < 200) {
            throw new IllegalArgumentException("not a final status: 200 to 599");
        }
        HttpResponseStatus status = HttpResponseStatus.valueOf(code);
        boolean bodiless = code == 204 || code == 205 || code == 304;
        respond(ctx, status, TEXT, bodiless ? Unpooled.EMPTY_BUFFER : text(status + "\n"));
    }

    private void bytes(ChannelHandlerContext ctx, long count) {
        HttpResponse head = head(HttpResponseStatus.OK, "application/octet-stream");
        HttpUtil.setContentLength(head, count);
        ctx.write(head);
        if (isHead()) {
            finish(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
            return;
        }
        long[] sent = {0};
        whenWritable = () -> {
            while (sent[0] < count && ctx.channel().isWritable()) {
                int from = (int) (sent[0] % BLOCK.capacity());
                int length = (int) Math.min(BLOCK.capacity() - from, count - sent[0]);
                sent[0] += length;
                ctx.write(new DefaultHttpContent(BLOCK.slice(from, length)));
            }
            if (sent[0] == count) {
                finish(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
            } else {
                ctx.flush();
            }
        };
        whenWritable.run();
    }

    private void events(ChannelHandlerContext ctx, QueryStringDecoder uri) {
        int count = parameter(uri, "count", 10, MAX_EVENTS);
        int interval = parameter(uri, "interval", 1_000, MAX_DELAY);
        HttpResponse head = head(HttpResponseStatus.OK, "text/event-stream");
        chunked(head);
        ctx.writeAndFlush(head);
        event(ctx, 1, isHead() ? 0 : count, interval);
    }

    private void event(ChannelHandlerContext ctx, int number, int count, int interval) {
        if (number > count) {
            finish(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
        } else if (ctx.channel().isWritable()) {
            String event = "id: " + number + "\nevent: tick\ndata: " + number + " of " + count + "\n\n";
            ctx.writeAndFlush(new DefaultHttpContent(text(event)));
            later(ctx, number == count ? 0 : interval, () -> event(ctx, number + 1, count, interval));
        } else {
            later(ctx, interval + 1L, () -> event(ctx, number, count, interval)); // a reader that does not keep up
        }
    }

    private void startEcho(ChannelHandlerContext ctx, HttpRequest head) {
        boolean raw = new QueryStringDecoder(head.uri()).parameters().containsKey("raw");
        String type = raw ? head.headers().get(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream") : TEXT;
        HttpResponse response = head(HttpResponseStatus.OK, type);
        String length = head.headers().get(HttpHeaderNames.CONTENT_LENGTH);
        if (raw && length != null) {
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
        } else {
            chunked(response);
        }
        echoing = true;
        ctx.write(response);
        if (!raw) {
            String line = head.method() + " " + head.uri() + " " + head.protocolVersion() + "\n";
            ctx.write(new DefaultHttpContent(text(line + fields(head) + "\n")));
        }
        ctx.flush();
    }

    private void upgrade(ChannelHandlerContext ctx, HttpRequest head) {
        if (!WebSocketEcho.upgrade(ctx, head)) {
            HttpResponse response = head(HttpResponseStatus.UPGRADE_REQUIRED, TEXT);
            response.headers().set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET);
            response.headers().set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13");
            HttpUtil.setContentLength(response, 0);
            ctx.write(response);
            finish(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
        }
    }

    private boolean isHead() {
        return request != null && request.method().equals(HttpMethod.HEAD);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private HttpResponse head(HttpResponseStatus status, String type) {
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
        head.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
        head.headers().set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
        head.headers().set(HttpHeaderNames.SERVER, "demo");
        if (request == null || !HttpUtil.isKeepAlive(request)) {
            head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        return head;
    }

    private void chunked(HttpResponse head) {
        if (request != null && request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
            HttpUtil.setKeepAlive(request, false); // the end of the connection ends the body
            head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else {
            HttpUtil.setTransferEncodingChunked(head, true);
        }
    }

    private void respond(ChannelHandlerContext ctx, HttpResponseStatus status, String type, ByteBuf body) {
        HttpResponse head = head(status, type);
        if (status.code() != 204) {
            HttpUtil.setContentLength(head, body.readableBytes());
        }
        ctx.write(head);
        finish(ctx, new DefaultLastHttpContent(body));
    }

    private void finish(ChannelHandlerContext ctx, LastHttpContent last) {
        boolean keepAlive = request != null && HttpUtil.isKeepAlive(request);
        request = null;
        whenWritable = null;
        if (keepAlive) {
            ctx.writeAndFlush(last);
            pacing.read(ctx);
        } else {
            ctx.writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof IdleStateEvent) {
            ctx.close();
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        log.debug("demo connection failed", cause); // peers come and go
        ctx.close();
    }
}
