package dev.gateway.upstream.pool;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.AsciiString;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One GET sent through the pools, and what came of it. */
final class Reply implements ResponseEvents, StreamOpener.Callback {
    private static final FieldName CONNECTION_NUMBER = FieldName.of("X-Connection");

    /** Completed with the number of the connection, or with the failure. */
    private final CompletableFuture<Object> outcome = new CompletableFuture<>();

    private final EventLoop loop;
    private final String path;
    private @Nullable Endpoint tried;
    private @Nullable String serverName;

    /** The endpoint that it moved to last. */
    volatile @Nullable Endpoint movedTo;

    /** Whether it may go to an ejected endpoint. */
    volatile boolean takesEjected;

    /** Whether it ends its stream when it hears that the endpoint does not answer. */
    volatile boolean resetsWhenUnresponsive;

    private final CompletableFuture<String> unresponsive = new CompletableFuture<>();
    private int connection;
    private @Nullable ClientStream stream;
    private StreamOpener.Opening opening = StreamOpener.Opening.DONE;

    private Reply(EventLoop loop, String path) {
        this.loop = loop;
        this.path = path;
    }

    static Reply get(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint, String path) {
        return get(opener, loop, upstream, endpoint, path, StreamKind.EXCHANGE);
    }

    static Reply get(
            StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint, String path, StreamKind kind) {
        Reply reply = new Reply(loop, path);
        loop.execute(() -> reply.opening = opener.open(upstream, endpoint, kind, null, reply, reply));
        return reply;
    }

    /** Asks with a host that TLS asks for, too. */
    static Reply getFor(StreamOpener opener, EventLoop loop, Upstream upstream, String name, String path) {
        Reply reply = new Reply(loop, path);
        reply.serverName = name;
        Endpoint endpoint = upstream.endpoints().get(0);
        loop.execute(() -> reply.opening = opener.open(upstream, endpoint, StreamKind.EXCHANGE, null, reply, reply));
        return reply;
    }

    /** Asks again for a request that was at another endpoint before. */
    static Reply getAgain(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint, Endpoint tried) {
        Reply reply = new Reply(loop, "/");
        reply.tried = tried;
        loop.execute(() -> reply.opening = opener.open(upstream, endpoint, StreamKind.EXCHANGE, null, reply, reply));
        return reply;
    }

    /** Asks for a request that would rather go to an ejected endpoint than fail. */
    static Reply getFromAny(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint) {
        Reply reply = new Reply(loop, "/");
        reply.tried = endpoint;
        reply.takesEjected = true;
        loop.execute(() -> reply.opening = opener.open(upstream, endpoint, StreamKind.EXCHANGE, null, reply, reply));
        return reply;
    }

    /** Asks and gives up at once, before the event loop could have done anything else. */
    static Reply getAndCancel(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint, String path) {
        Reply reply = new Reply(loop, path);
        loop.execute(() -> {
            reply.opening = opener.open(upstream, endpoint, StreamKind.EXCHANGE, null, reply, reply);
            reply.opening.cancel();
        });
        return reply;
    }

    /** Returns the number of the connection that served it. */
    int connection() throws Exception {
        Object ended = outcome.get(10, TimeUnit.SECONDS);
        if (ended instanceof Failure failure) {
            throw new AssertionError(failure.toString());
        }
        return (Integer) ended;
    }

    /** Whether it gets an answer. */
    boolean isServed() throws Exception {
        return connection() > 0;
    }

    Failure failure() throws Exception {
        Object ended = outcome.get(10, TimeUnit.SECONDS);
        if (ended instanceof Failure failure) {
            return failure;
        }
        throw new AssertionError("served by connection " + ended);
    }

    /** Returns how the endpoint was found not to answer. */
    String unresponsive() throws Exception {
        return unresponsive.get(10, TimeUnit.SECONDS);
    }

    boolean isToldUnresponsive() {
        return unresponsive.isDone();
    }

    boolean isDone() {
        return outcome.isDone();
    }

    void cancel() throws Exception {
        loop.submit(() -> {
                    opening.cancel();
                    if (stream != null) {
                        stream.reset(Failure.of(dev.gateway.stream.Cause.CLIENT_CLOSED, "gone"));
                    }
                })
                .get();
    }

    @Override
    public boolean takesEjected() {
        return takesEjected;
    }

    @Override
    public void onMoved(Endpoint to) {
        movedTo = to;
    }

    @Override
    public @Nullable String serverName() {
        return serverName;
    }

    @Override
    public boolean isTried(Endpoint endpoint) {
        return endpoint.equals(tried);
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer hop) {
        stream = opened;
        AsciiString authority = new AsciiString("origin.test");
        opened.head(
                new RequestHead(Method.GET, new AsciiString("http"), authority, new AsciiString(path), new Fields(), 0),
                true);
        opened.flush();
    }

    @Override
    public void onOpenFailed(Failure failure) {
        outcome.complete(failure);
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        AsciiString number = head.fields().first(CONNECTION_NUMBER);
        connection = number == null ? 0 : number.parseInt();
        if (last) {
            outcome.complete(connection);
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        data.release();
        if (last) {
            outcome.complete(connection);
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        outcome.complete(connection);
    }

    @Override
    public void onUnresponsive(String why) {
        if (resetsWhenUnresponsive && stream != null) {
            stream.reset(Failure.of(dev.gateway.stream.Cause.UPSTREAM_TIMEOUT, why));
        }
        unresponsive.complete(why);
    }

    @Override
    public void onWritable() {}

    @Override
    public void onReadComplete() {}

    @Override
    public void onReset(Failure failure) {
        outcome.complete(failure);
    }
}
