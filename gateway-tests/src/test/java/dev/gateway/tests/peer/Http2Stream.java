package dev.gateway.tests.peer;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A stream of an {@link Http2Peer}. Its window is refilled as {@link #receive} takes data. */
public final class Http2Stream extends PeerStream {
    volatile int id; // 0 until the head is sent
    long sendWindow; // guarded by the connection
    volatile StreamResetException error;

    private final Http2Peer peer;
    private final Object lock = new Object();
    private final ArrayDeque<Head> heads = new ArrayDeque<>();
    private final ArrayDeque<byte[]> data = new ArrayDeque<>();
    private List<Map.Entry<String, String>> trailers = List.of();
    private boolean finalHead;
    private boolean ended;
    private int taken;

    Http2Stream(Http2Peer peer, int id, long sendWindow) {
        this.peer = peer;
        this.id = id;
        this.sendWindow = sendWindow;
    }

    /** Returns the stream's identifier. */
    public int id() {
        return id;
    }

    @Override
    public void send(Head head, boolean last) throws IOException {
        peer.headers(this, Http2Peer.encode(head), last);
    }

    @Override
    public void send(byte[] bytes, int offset, int length, boolean last) throws IOException {
        peer.data(this, bytes, offset, length, last);
    }

    @Override
    public void sendTrailers(String... fields) throws IOException {
        Http2Headers headers = new DefaultHttp2Headers(false);
        Head.pairs(fields).forEach(f -> headers.add(f.getKey(), f.getValue()));
        peer.headers(this, headers, true);
    }

    @Override
    public Head receiveHead() throws IOException {
        synchronized (lock) {
            await("no head", () -> !heads.isEmpty());
            if (heads.isEmpty()) {
                failIfReset();
            }
            return heads.remove();
        }
    }

    @Override
    public int receive(byte[] buffer) throws IOException {
        int n;
        int credit = 0;
        synchronized (lock) {
            await("no data", () -> !data.isEmpty() || ended);
            if (data.isEmpty()) {
                if (ended) {
                    return -1;
                }
                failIfReset();
            }
            byte[] first = data.remove();
            n = Math.min(buffer.length, first.length);
            System.arraycopy(first, 0, buffer, 0, n);
            if (n < first.length) {
                data.addFirst(Arrays.copyOfRange(first, n, first.length));
            }
            taken += n;
            if (taken >= peer.streamWindow / 2 && !ended && error == null) {
                credit = taken;
                taken = 0;
            }
        }
        if (credit > 0) {
            peer.windowUpdate(id, credit);
        }
        return n;
    }

    /** Waits for the reset by the other side and returns its code, dropping what comes before it. */
    public int awaitReset() throws IOException {
        synchronized (lock) {
            await("no reset", () -> error != null);
            StreamResetException reset = error;
            return reset.code;
        }
    }

    @Override
    public List<Map.Entry<String, String>> trailers() {
        synchronized (lock) {
            return trailers;
        }
    }

    @Override
    public void reset() throws IOException {
        reset(8); // CANCEL
    }

    /** Sends RST_STREAM. */
    public void reset(int code) throws IOException {
        if (id == 0) {
            return;
        }
        peer.reset(this, code);
    }

    @Override
    public Http2Peer peer() {
        return peer;
    }

    void onHeaders(Http2Headers headers, boolean last) {
        synchronized (lock) {
            Head head = Http2Peer.decode(headers);
            if (finalHead) {
                trailers = head.fields();
            } else {
                finalHead = !head.isInterim();
                heads.add(head);
            }
            ended |= last;
            lock.notifyAll();
        }
    }

    void onData(byte[] payload, int offset, int length, boolean last) {
        synchronized (lock) {
            if (length > 0) {
                data.add(Arrays.copyOfRange(payload, offset, offset + length));
            }
            ended |= last;
            lock.notifyAll();
        }
    }

    void fail(StreamResetException failure) {
        synchronized (lock) {
            if (error == null) {
                error = failure;
            }
            lock.notifyAll();
        }
    }

    void failIfReset() throws StreamResetException {
        StreamResetException failure = error;
        if (failure != null) {
            throw (StreamResetException)
                    new StreamResetException(failure.code, failure.getMessage()).initCause(failure);
        }
    }

    private void await(String failure, BooleanSupplier condition) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (!condition.getAsBoolean() && error == null) {
            if (System.nanoTime() > deadline) {
                throw new IOException(failure + " on stream " + id);
            }
            try {
                lock.wait(1000);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }
}
