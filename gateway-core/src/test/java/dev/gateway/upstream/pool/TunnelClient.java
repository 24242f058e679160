package dev.gateway.upstream.pool;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Buffers;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A tunnel opened through the pools, and what came of it. Its methods may be called on any thread. */
final class TunnelClient implements ResponseEvents, StreamOpener.Callback {
    static final ClientPreamble INTRODUCTION = new ClientPreamble(
            SourceAddress.of(new InetSocketAddress("192.0.2.7", 4711)),
            new InetSocketAddress("198.51.100.1", 443),
            "1.1 a, 1.1 b");

    /** Everything but data, in order: opened, 200, writable, end, reset CAUSE, failed CAUSE. */
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    /** The endpoint that it has gone to instead of the asked one. */
    volatile @Nullable Endpoint movedTo;

    private final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
    private final EventLoop loop;
    private StreamOpener.Opening opening = StreamOpener.Opening.DONE;
    private @Nullable ClientStream stream;
    private @Nullable Failure failure;
    private byte[] unread = new byte[0];
    private boolean consuming = true;
    private boolean sendsHead = true;
    private Object owner = "a client";

    private TunnelClient(EventLoop loop) {
        this.loop = loop;
    }

    static TunnelClient open(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint) {
        return open(opener, loop, upstream, endpoint, "a client");
    }

    /** Opens a tunnel for one of several clients. */
    static TunnelClient open(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint, Object owner) {
        TunnelClient client = new TunnelClient(loop);
        client.owner = owner;
        loop.execute(() ->
                client.opening = opener.open(upstream, endpoint, StreamKind.TUNNEL, INTRODUCTION, client, client));
        return client;
    }

    /** Opens a tunnel and gives it up as soon as it is there, before its head. */
    static TunnelClient openInVain(StreamOpener opener, EventLoop loop, Upstream upstream, Endpoint endpoint) {
        TunnelClient client = new TunnelClient(loop);
        client.sendsHead = false;
        loop.execute(() ->
                client.opening = opener.open(upstream, endpoint, StreamKind.TUNNEL, INTRODUCTION, client, client));
        return client;
    }

    @Override
    public Object client() {
        return owner;
    }

    @Override
    public void onMoved(Endpoint to) {
        movedTo = to;
    }

    TunnelClient established() throws InterruptedException {
        expect("opened");
        expect("200");
        return this;
    }

    void expect(String event) throws InterruptedException {
        String next = events.poll(20, TimeUnit.SECONDS);
        while ("writable".equals(next) && !event.equals(next)) {
            next = events.poll(20, TimeUnit.SECONDS);
        }
        if (!event.equals(next)) {
            throw new AssertionError("not " + event + " but " + next + " " + failure);
        }
    }

    Failure failure() {
        Failure told = failure;
        if (told == null) {
            throw new AssertionError("no failure");
        }
        return told;
    }

    void cancel() throws Exception {
        on(() -> opening.cancel());
    }

    void send(byte[] data, boolean last) throws Exception {
        on(() -> {
            stream().data(Buffers.of(data), last);
            stream().flush();
        });
    }

    void reset() throws Exception {
        on(() -> stream().reset(Failure.of(Cause.CLIENT_CLOSED, "gone")));
    }

    boolean isWritable() throws Exception {
        CompletableFuture<Boolean> writable = new CompletableFuture<>();
        on(() -> writable.complete(stream().isWritable()));
        return writable.get();
    }

    /** Consumes nothing from here on. */
    void stopConsuming() throws Exception {
        on(() -> consuming = false);
    }

    void consume(int bytes) throws Exception {
        on(() -> stream().consumed(bytes));
    }

    /** Reads exactly so many bytes. */
    byte[] read(int count) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(unread);
        while (all.size() < count) {
            byte[] next = received.poll(20, TimeUnit.SECONDS);
            if (next == null) {
                throw new IOException("no more than " + all.size() + " bytes came; " + events);
            }
            all.write(next);
        }
        byte[] bytes = all.toByteArray();
        unread = java.util.Arrays.copyOfRange(bytes, count, bytes.length);
        return java.util.Arrays.copyOf(bytes, count);
    }

    /** Returns how many bytes have come and were not read here. */
    int available() {
        return unread.length + received.stream().mapToInt(each -> each.length).sum();
    }

    private void on(Runnable task) throws Exception {
        loop.submit(task).get(20, TimeUnit.SECONDS);
    }

    private ClientStream stream() {
        ClientStream opened = stream;
        if (opened == null) {
            throw new IllegalStateException("not open");
        }
        return opened;
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer hop) {
        stream = opened;
        events.add("opened");
        if (sendsHead) {
            AsciiString authority = new AsciiString("origin.test:443");
            opened.head(
                    new RequestHead(
                            Method.CONNECT,
                            AsciiString.EMPTY_STRING,
                            authority,
                            AsciiString.EMPTY_STRING,
                            new Fields(),
                            -1),
                    false);
        } else {
            opened.reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        }
    }

    @Override
    public void onOpenFailed(Failure reported) {
        failure = reported;
        events.add("failed " + reported.cause());
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        events.add(Integer.toString(head.status()));
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        byte[] bytes = new byte[data.readableBytes()];
        data.readBytes(bytes).release();
        if (bytes.length > 0) {
            received.add(bytes);
        }
        if (consuming && stream != null) {
            stream.consumed(bytes.length);
        }
        if (last) {
            events.add("end");
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        events.add("trailers");
    }

    @Override
    public void onWritable() {
        events.add("writable");
    }

    @Override
    public void onReadComplete() {}

    @Override
    public void onReset(Failure reported) {
        failure = reported;
        events.add("reset " + reported.cause());
    }
}
