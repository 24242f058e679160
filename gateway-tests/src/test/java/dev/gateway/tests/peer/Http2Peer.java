package dev.gateway.tests.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * An HTTP/2 connection, frame by frame (RFC 9113). One thread reads; streams block their callers. The connection's
 * window is refilled at once, a stream's as its data is taken, so a stream that is not read stalls alone.
 */
public final class Http2Peer implements Peer {
    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int RST_STREAM = 3;
    public static final int SETTINGS = 4;
    public static final int PING = 6;
    public static final int GOAWAY = 7;
    public static final int WINDOW_UPDATE = 8;
    public static final int CONTINUATION = 9;

    /** The setting that says how large the table may be that header blocks refer to. */
    public static final int HEADER_TABLE_SIZE = 1;

    /** The setting that says how many streams may be open at a time. */
    public static final int MAX_CONCURRENT_STREAMS = 3;

    /** The setting that says how much may be sent on a stream before it is taken. */
    public static final int INITIAL_WINDOW_SIZE = 4;

    public static final int END_STREAM = 1;
    public static final int ACK = 1;
    public static final int END_HEADERS = 4;

    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    static final int STREAM_WINDOW = 65_535;
    private static final int CONNECTION_WINDOW = 1 << 30;
    private static final int MAX_FRAME = 16_384;

    /** SETTINGS on their way. */
    private record SentSettings(List<Long> pairs, CountDownLatch acknowledged) {}

    /** GOAWAY as it was received. */
    public record GoAway(int lastStreamId, int code, String text) {}

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final boolean client;
    private final Consumer<Http2Stream> accept;
    volatile int streamWindow;
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false, 1 << 20);
    private final Map<Integer, Http2Stream> streams = new ConcurrentHashMap<>();
    private final AtomicInteger[] received = new AtomicInteger[256];
    private final AtomicLong dataReceived = new AtomicLong();
    private final AtomicInteger streamWindowUpdates = new AtomicInteger();
    private final List<GoAway> goAways = new CopyOnWriteArrayList<>();
    private final CompletableFuture<GoAway> goAway = new CompletableFuture<>();
    private final CompletableFuture<Map<Integer, Long>> settings = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Queue<SentSettings> unacknowledged = new ConcurrentLinkedQueue<>();

    // Guarded by this: who writes, and what may be written.
    private int nextStreamId = 1;
    private long sendWindow = STREAM_WINDOW;
    private long peerStreamWindow = STREAM_WINDOW;
    private int peerMaxFrame = MAX_FRAME;
    private boolean gone;

    private Http2Peer(Socket socket, InputStream in, boolean client, Consumer<Http2Stream> accept, long... settings)
            throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(in);
        this.out = socket.getOutputStream();
        this.client = client;
        this.accept = accept;
        int window = STREAM_WINDOW;
        for (int i = 0; i < settings.length; i += 2) {
            window = settings[i] == INITIAL_WINDOW_SIZE ? Math.toIntExact(settings[i + 1]) : window;
        }
        this.streamWindow = window;
        for (int i = 0; i < received.length; i++) {
            received[i] = new AtomicInteger();
        }
    }

    /** Connects in cleartext with prior knowledge. */
    public static Http2Peer connect(int port, long... settings) throws IOException {
        return client(Sockets.connect(port), settings);
    }

    /** Connects by TLS and ALPN. */
    public static Http2Peer connectTls(int port, long... settings) throws IOException {
        return client(Sockets.secure(Sockets.connect(port), Sockets.clientContext(), "h2"), settings);
    }

    static Http2Peer client(Socket socket, long... settings) throws IOException {
        Http2Peer peer =
                new Http2Peer(socket, new BufferedInputStream(socket.getInputStream(), 65536), true, s -> {}, settings);
        peer.out.write(PREFACE);
        peer.start(settings);
        return peer;
    }

    /** Serves a connection whose preface has been read; streams are handed over as their head arrives. */
    static Http2Peer server(Socket socket, InputStream in, Consumer<Http2Stream> accept, long... settings)
            throws IOException {
        Http2Peer peer = new Http2Peer(socket, in, false, accept, settings);
        peer.start(settings);
        return peer;
    }

    /**
     * Changes settings. They hold for the other side from now on, and for this side's decoder when they were
     * acknowledged, which the result waits for.
     */
    public CountDownLatch changeSettings(long... settings) throws IOException {
        ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
        for (int i = 0; i < settings.length; i += 2) {
            payload.putShort((short) settings[i]).putInt((int) settings[i + 1]);
            if (settings[i] == INITIAL_WINDOW_SIZE) {
                streamWindow = Math.toIntExact(settings[i + 1]);
            }
        }
        SentSettings sent = new SentSettings(LongStream.of(settings).boxed().toList(), new CountDownLatch(1));
        synchronized (this) {
            unacknowledged.add(sent);
            frame(SETTINGS, 0, 0, payload.array());
        }
        return sent.acknowledged;
    }

    /** Changes settings, and returns when the other side has acknowledged them. */
    public void settings(long... settings) throws IOException {
        await(changeSettings(settings), "SETTINGS were not acknowledged");
    }

    /** Sends a PING, and returns when it was answered: the other side has seen to all that was sent before. */
    public void roundTrip() throws IOException {
        int before = received(PING);
        frame(PING, 0, 0, new byte[8]);
        if (!awaitFrame(PING, before + 1)) {
            throw new IOException("closed before a PING was answered");
        }
    }

    /** Lets this side's header blocks refer to a table of this size only, as RFC 7541 allows at any time. */
    public synchronized void useHeaderTable(int size) throws IOException {
        try {
            encoder.configuration().maxHeaderTableSize(size);
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
    }

    private void start(long... settings) throws IOException {
        changeSettings(settings);
        windowUpdate(0, CONNECTION_WINDOW - STREAM_WINDOW);
        socket.setSoTimeout(0); // an idle connection is no failure; streams have limits of their own
        Thread reader = new Thread(this::read, client ? "h2-client" : "h2-origin");
        reader.setDaemon(true);
        reader.start();
    }

    @Override
    public Http2Stream open() {
        return new Http2Stream(this, 0, 0);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    @Override
    public void abort() throws IOException {
        Sockets.abort(socket);
    }

    @Override
    public void awaitDelivery() throws IOException {
        Sockets.awaitDelivery(socket);
    }

    @Override
    public void awaitClosed() throws IOException {
        await(closed, "the connection was not closed");
    }

    /** Waits for a GOAWAY. */
    public GoAway awaitGoAway() throws IOException {
        return get(goAway, "no GOAWAY");
    }

    /** Whether a GOAWAY has come; who holds this peer's lock while asking sends before the next frame is answered. */
    public boolean isGoingAway() {
        return goAway.isDone();
    }

    /** Returns the GOAWAYs that have come. */
    public List<GoAway> goAways() {
        return goAways;
    }

    /** Waits for the other side's first SETTINGS. */
    public Map<Integer, Long> awaitSettings() throws IOException {
        return get(settings, "no SETTINGS");
    }

    /** Returns how many frames of a type were received. */
    public int received(int type) {
        return received[type].get();
    }

    /** Waits until so many frames of a type were received; whether they were before the connection was closed. */
    public boolean awaitFrame(int type, int count) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (received(type) < count) {
            if (closed.getCount() == 0) {
                return received(type) >= count;
            }
            if (System.nanoTime() > deadline) {
                throw new IOException(count + " frames of type " + type + " did not come, but " + received(type));
            }
            LockSupport.parkNanos(1_000_000);
        }
        return true;
    }

    /** Returns how many bytes of DATA payload were received. */
    public long dataReceived() {
        return dataReceived.get();
    }

    /** Returns how many WINDOW_UPDATE frames for streams, not for the connection, were received. */
    public int streamWindowUpdates() {
        return streamWindowUpdates.get();
    }

    /** Sends GOAWAY; streams go on. */
    public void goAway(int lastStreamId, int code) throws IOException {
        frame(
                GOAWAY,
                0,
                0,
                ByteBuffer.allocate(8).putInt(lastStreamId).putInt(code).array());
    }

    /** Sends a frame, right or wrong. */
    public synchronized void frame(int type, int flags, int streamId, byte[] payload) throws IOException {
        frame(type, flags, streamId, payload, 0, payload.length);
    }

    private synchronized void frame(int type, int flags, int streamId, byte[] payload, int offset, int length)
            throws IOException {
        byte[] frame = new byte[9 + length];
        ByteBuffer.wrap(frame).putInt(length << 8 | type).put((byte) flags).putInt(streamId);
        System.arraycopy(payload, offset, frame, 9, length);
        out.write(frame);
        out.flush();
    }

    /** Gives credit for a stream, or for the connection if the stream is 0. */
    public void windowUpdate(int streamId, int bytes) throws IOException {
        frame(WINDOW_UPDATE, 0, streamId, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    /** Encodes and sends a head or trailers; one lock, because the encoder's table follows the order on the wire. */
    synchronized void headers(Http2Stream stream, Http2Headers headers, boolean last) throws IOException {
        if (stream.id == 0) { // numbered as they are sent, or the order would be wrong
            stream.id = nextStreamId;
            stream.sendWindow = peerStreamWindow;
            nextStreamId += 2;
            streams.put(stream.id, stream);
        }
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.encodeHeaders(stream.id, headers, block);
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
        byte[] bytes = new byte[block.readableBytes()];
        block.readBytes(bytes);
        int first = Math.min(bytes.length, peerMaxFrame);
        int flags = (last ? END_STREAM : 0) | (first == bytes.length ? END_HEADERS : 0);
        frame(HEADERS, flags, stream.id, bytes, 0, first);
        for (int at = first; at < bytes.length; at += peerMaxFrame) {
            int length = Math.min(peerMaxFrame, bytes.length - at);
            frame(CONTINUATION, at + length == bytes.length ? END_HEADERS : 0, stream.id, bytes, at, length);
        }
    }

    /** Opens a stream by a header block of these fields, right or wrong, in this order and without compression. */
    public synchronized Http2Stream openRaw(List<Map.Entry<String, String>> fields, boolean last) throws IOException {
        Http2Stream stream = open();
        stream.id = nextStreamId;
        stream.sendWindow = peerStreamWindow;
        nextStreamId += 2;
        streams.put(stream.id, stream);
        frame(HEADERS, (last ? END_STREAM : 0) | END_HEADERS, stream.id, literals(fields));
        return stream;
    }

    private static byte[] literals(List<Map.Entry<String, String>> fields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        fields.forEach(field -> {
            block.write(0);
            literal(block, field.getKey());
            literal(block, field.getValue());
        });
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, String text) {
        int rest = text.length() - 127;
        block.write(Math.min(text.length(), 127));
        for (; rest >= 128; rest >>= 7) {
            block.write((rest & 127) | 128);
        }
        if (text.length() >= 127) {
            block.write(rest);
        }
        block.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Sends data as the windows allow. */
    synchronized void data(Http2Stream stream, byte[] data, int offset, int length, boolean last) throws IOException {
        int at = offset;
        int left = length;
        do {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
            while (left > 0 && Math.min(sendWindow, stream.sendWindow) <= 0 && stream.error == null && !gone) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("no window for stream " + stream.id);
                }
                try {
                    wait(1000);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            stream.failIfReset();
            int n = (int) Math.min(Math.min(left, peerMaxFrame), Math.max(0, Math.min(sendWindow, stream.sendWindow)));
            sendWindow -= n;
            stream.sendWindow -= n;
            frame(DATA, last && n == left ? END_STREAM : 0, stream.id, data, at, n);
            at += n;
            left -= n;
        } while (left > 0);
    }

    private void read() {
        StreamResetException end = new StreamResetException(-1, "the connection was closed");
        try {
            int block = 0; // the flags of the HEADERS that CONTINUATION frames go on
            ByteArrayOutputStream headers = new ByteArrayOutputStream();
            while (true) {
                int word = in.readInt();
                int type = word & 0xff;
                int flags = in.readUnsignedByte();
                int id = in.readInt() & 0x7fffffff;
                byte[] payload = in.readNBytes(word >>> 8);
                if (payload.length < word >>> 8) {
                    break;
                }
                received[type].incrementAndGet();
                switch (type) {
                    case HEADERS -> {
                        block = flags;
                        headers.reset();
                        int start = ((flags & 8) != 0 ? 1 : 0) + ((flags & 0x20) != 0 ? 5 : 0);
                        int padding = (flags & 8) != 0 ? payload[0] & 0xff : 0;
                        headers.write(payload, start, payload.length - start - padding);
                    }
                    case CONTINUATION -> headers.write(payload);
                    default -> onFrame(type, flags, id, payload);
                }
                if ((type == HEADERS || type == CONTINUATION) && (flags & END_HEADERS) != 0) {
                    onHeaders(id, headers.toByteArray(), (block & END_STREAM) != 0);
                }
            }
        } catch (IOException | Http2Exception e) {
            end.initCause(e);
        } finally {
            synchronized (this) {
                gone = true;
                streams.values().forEach(s -> s.fail(end));
                notifyAll();
            }
            closed.countDown();
            goAway.completeExceptionally(end);
            settings.completeExceptionally(end);
            if (!client) {
                hangUp();
            }
        }
    }

    /** As servers do once their client says no more. */
    private void hangUp() {
        try {
            socket.close();
        } catch (IOException e) {
            // closed it is
        }
    }

    private void onFrame(int type, int flags, int id, byte[] payload) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(payload);
        Http2Stream stream = streams.get(id);
        switch (type) {
            case DATA -> {
                int padding = (flags & 8) != 0 ? payload[0] & 0xff : 0;
                int start = (flags & 8) != 0 ? 1 : 0;
                dataReceived.addAndGet(payload.length - start - padding);
                if (payload.length > 0) {
                    answer(
                            WINDOW_UPDATE,
                            0,
                            ByteBuffer.allocate(4).putInt(payload.length).array());
                }
                if (stream != null) {
                    stream.onData(payload, start, payload.length - start - padding, (flags & END_STREAM) != 0);
                }
            }
            case RST_STREAM -> {
                if (stream != null) {
                    synchronized (this) {
                        int code = buffer.getInt();
                        stream.fail(new StreamResetException(code, "reset with code " + code));
                        notifyAll();
                    }
                }
            }
            case SETTINGS -> {
                if ((flags & ACK) == 0) {
                    onSettings(buffer);
                    answer(SETTINGS, ACK, new byte[0]);
                } else {
                    onAcknowledged();
                }
            }
            case PING -> {
                if ((flags & ACK) == 0) {
                    answer(PING, ACK, payload);
                }
            }
            case GOAWAY -> {
                int last = buffer.getInt();
                int code = buffer.getInt();
                String text = StandardCharsets.UTF_8.decode(buffer).toString();
                goAways.add(new GoAway(last, code, text));
                goAway.complete(new GoAway(last, code, text));
            }
            case WINDOW_UPDATE -> {
                if (id != 0) {
                    streamWindowUpdates.incrementAndGet();
                }
                synchronized (this) {
                    if (id == 0) {
                        sendWindow += buffer.getInt();
                    } else if (stream != null) {
                        stream.sendWindow += buffer.getInt();
                    }
                    notifyAll();
                }
            }
            default -> {
                // PRIORITY and extensions mean nothing here
            }
        }
    }

    /** Answers a frame. If that fails, what the other side sent before it went is still read. */
    private void answer(int type, int flags, byte[] payload) {
        try {
            frame(type, flags, 0, payload);
        } catch (IOException e) {
            // The next read that finds nothing says so.
        }
    }

    private void onAcknowledged() throws IOException {
        SentSettings sent = unacknowledged.poll();
        if (sent == null) {
            return; // of settings that a test sent as a mere frame
        }
        for (int i = 0; i < sent.pairs.size(); i += 2) {
            if (sent.pairs.get(i) == HEADER_TABLE_SIZE) {
                try {
                    decoder.configuration().maxHeaderTableSize(sent.pairs.get(i + 1));
                } catch (Http2Exception e) {
                    throw new IOException(e);
                }
            }
        }
        sent.acknowledged.countDown();
    }

    private void onSettings(ByteBuffer buffer) {
        Map<Integer, Long> values = new ConcurrentHashMap<>();
        while (buffer.hasRemaining()) {
            values.put((int) buffer.getShort(), buffer.getInt() & 0xffffffffL);
        }
        synchronized (this) {
            Long window = values.get(4);
            if (window != null) {
                long change = window - peerStreamWindow;
                peerStreamWindow = window;
                streams.values().forEach(s -> s.sendWindow += change);
            }
            peerMaxFrame = Math.toIntExact(Math.min(values.getOrDefault(5, (long) peerMaxFrame), 1 << 20));
            notifyAll();
        }
        settings.complete(values);
    }

    private void onHeaders(int id, byte[] block, boolean last) throws Http2Exception {
        Http2Headers headers = decoder.decodeHeaders(id, Unpooled.wrappedBuffer(block));
        Http2Stream stream = streams.get(id);
        boolean isNew = stream == null;
        if (stream == null) {
            if (client) {
                return; // a stream that this side has given up
            }
            synchronized (this) {
                stream = new Http2Stream(this, id, peerStreamWindow);
                streams.put(id, stream);
            }
        }
        stream.onHeaders(headers, last);
        if (isNew) {
            accept.accept(stream);
        }
    }

    synchronized void reset(Http2Stream stream, int code) throws IOException {
        frame(RST_STREAM, 0, stream.id, ByteBuffer.allocate(4).putInt(code).array());
        streams.remove(stream.id);
        stream.fail(new StreamResetException(code, "reset from here"));
        notifyAll();
    }

    static Http2Headers encode(Head head) {
        Http2Headers headers = new DefaultHttp2Headers(false);
        if (head.status() > 0) {
            headers.status(Integer.toString(head.status()));
        } else {
            headers.method(head.method()).authority(head.get("host").orElse("gateway.test"));
            if (!head.method().equals("CONNECT") || head.get(":protocol").isPresent()) {
                headers.path(head.target()).scheme(head.get(":scheme").orElse("http"));
            }
        }
        head.fields().stream()
                .filter(f -> !f.getKey().equalsIgnoreCase("host") && !f.getKey().equals(":scheme"))
                .forEach(f -> headers.add(f.getKey().toLowerCase(Locale.ROOT), f.getValue()));
        return headers;
    }

    static Head decode(Http2Headers headers) {
        List<Map.Entry<String, String>> fields = new ArrayList<>();
        headers.forEach(e -> {
            String name = e.getKey().toString();
            if (name.equals(":authority")) {
                fields.add(Map.entry("host", e.getValue().toString()));
            } else if (!name.startsWith(":") || name.equals(":protocol") || name.equals(":scheme")) {
                fields.add(Map.entry(name, e.getValue().toString()));
            }
        });
        CharSequence status = headers.status();
        return new Head(
                headers.method() == null ? "" : headers.method().toString(),
                headers.path() == null ? "" : headers.path().toString(),
                status == null ? 0 : Integer.parseInt(status.toString()),
                fields);
    }

    static void await(CountDownLatch latch, String failure) throws IOException {
        try {
            if (!latch.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IOException(failure);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static <T> T get(CompletableFuture<T> future, String failure) throws IOException {
        try {
            return future.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (Exception e) {
            throw new IOException(failure, e);
        }
    }
}
