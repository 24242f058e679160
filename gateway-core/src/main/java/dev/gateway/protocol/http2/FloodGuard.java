package dev.gateway.protocol.http2;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Counts what costs a peer little and us much, and ends the connection that does too much of it (RFC 9113, section
 * 10.5). Counts are per window of time, generous to every client known and far below what an attack needs. Each limit has
 * a part that is free in every window, and a part that the peer earns by what it lets us do in the same window.
 */
final class FloodGuard {
    static final int MAX_SETTINGS = 100;
    static final int MAX_PINGS = 5_000; // besides those by which gRPC measures each round trip of what we send it
    static final int MAX_ACKS = 2_000; // besides those of our own PINGs
    static final int MAX_GOAWAYS = 20;
    static final int MAX_PRIORITIES = 2_000;
    static final int MAX_EMPTY_DATA = 200;
    static final int TINY = 32; // bytes of DATA that cost far less than their bookkeeping
    static final int MAX_TINY_HELD = 65_536;
    static final int MAX_UNKNOWN = 2_000;
    static final int MAX_WINDOW_UPDATES = 2_000;
    static final int WINDOW_UPDATES_PER_DATA_FRAME = 10;
    static final int MAX_STRAYS = 5_000;
    static final int STRAYS_PER_RESET = 65_536; // tiny pieces that fill a window, on their way when we reset a stream
    static final int MAX_RESETS = 512; // a page that is left twice, each time with 256 requests in flight
    static final int MAX_RESETS_OF_HALF = 1_000;
    static final int REQUESTS_PER_RESET = 20; // beyond that
    static final int MAX_PROVOKED_RESETS = 100;
    static final int MAX_LARGE_REFUSED = 100;
    static final int LARGE_HEAD = 8 * 1024; // unpacked; more than most clients ever send
    static final int MAX_REPEATED = 512 * 1024; // bytes of fields
    private static final int MAX_RATIO = 2; // of bytes to those of Huffman's code
    private static final int TABLE = 2 * 4096; // entries of HPACK's tables, ours and the one that all know
    static final int MAX_CONTINUATIONS = 64;
    static final int MAX_EMPTY_CONTINUATIONS = 200;
    private static final long WINDOW_NANOS = 10_000_000_000L;

    private final boolean server;
    private final TimerWheel timers;
    private final ConnectionObserver observer;
    private final long maxHeaderBlock;
    private long windowStart;
    private int settings;
    private int pings;
    private int pingsSent;
    private int acks;
    private int goAways;
    private int priorities;
    private int emptyData;
    private int tinyHeld; // now, not per window of time
    private int unknown;
    private int windowUpdates;
    private int dataSent;
    private int streams; // opened by whichever side is the client
    private int lastStream; // of a client
    private int requests; // of those streams, the ones that are not refused
    private int resets;
    private int provoked;
    private int largeRefused;
    private int strays;
    private int resetsSent;
    private int resetsSentBefore; // in the window of time before
    private int emptyContinuations;
    private long repeated;
    private int continuations; // of the header block that is being received
    private long headerBlock; // its bytes so far, compressed
    private boolean blockOpen;

    /**
     * Makes the guard of one connection.
     *
     * @param server whether the peer is a client. An upstream opens no streams, so its resets cost us nothing; requests of
     *     some clients that provoke many must not end the connection that others share.
     */
    FloodGuard(boolean server, TimerWheel timers, ConnectionObserver observer, long maxHeaderListSize) {
        this.server = server;
        this.timers = timers;
        this.observer = observer;
        this.maxHeaderBlock = maxHeaderListSize * HeadersDecoder.READ_ON;
        this.windowStart = timers.nanoTime();
    }

    /** A frame's header has been read; its payload may not be there yet. */
    void onFrame(int type, int flags, int length, int streamId) throws Http2Exception {
        switch (type) {
            case Http2FrameTypes.DATA -> {
                if (length == 0 && (flags & Http2Flags.END_STREAM) == 0) {
                    onEmptyData();
                }
            }
            case Http2FrameTypes.HEADERS -> onHeaders(flags, length, streamId);
            case Http2FrameTypes.CONTINUATION -> onContinuation(flags, length);
            case Http2FrameTypes.PRIORITY, PriorityUpdate.TYPE ->
                priorities = count(priorities, MAX_PRIORITIES, streams, Http2Violation.PRIORITY_FLOOD);
            case Http2FrameTypes.SETTINGS -> {
                if ((flags & Http2Flags.ACK) != 0) {
                    onAck();
                } else {
                    settings = count(settings, MAX_SETTINGS, 0, Http2Violation.SETTINGS_FLOOD);
                }
            }
            case Http2FrameTypes.PING -> {
                if ((flags & Http2Flags.ACK) != 0) {
                    onAck();
                } else {
                    pings = count(pings, MAX_PINGS, dataSent, Http2Violation.PING_FLOOD);
                }
            }
            case Http2FrameTypes.WINDOW_UPDATE -> {
                long earned = (long) WINDOW_UPDATES_PER_DATA_FRAME * dataSent + streams;
                windowUpdates = count(windowUpdates, MAX_WINDOW_UPDATES, earned, Http2Violation.WINDOW_UPDATE_FLOOD);
            }
            case Http2FrameTypes.GO_AWAY -> goAways = count(goAways, MAX_GOAWAYS, 0, Http2Violation.GOAWAY_FLOOD);
            case Http2FrameTypes.RST_STREAM -> {} // judged by what became of the stream
            case Http2FrameTypes.PUSH_PROMISE ->
                // Clients must not send it (RFC 9113, section 8.4), and upstreams are told that we take none.
                throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PUSH_PROMISE");
            default -> unknown = count(unknown, MAX_UNKNOWN, streams, Http2Violation.UNKNOWN_FRAME_FLOOD);
        }
    }

    private void onHeaders(int flags, int length, int streamId) {
        if (server && streamId > lastStream) { // else they are trailers, which open nothing
            lastStream = streamId;
            streams++;
        }
        continuations = 0;
        headerBlock = length;
        blockOpen = (flags & Http2Flags.END_HEADERS) == 0;
    }

    private void onContinuation(int flags, int length) throws Http2Exception {
        headerBlock += length;
        blockOpen &= (flags & Http2Flags.END_HEADERS) == 0;
        if (++continuations > MAX_CONTINUATIONS || headerBlock > maxHeaderBlock) {
            throw violation(Http2Violation.CONTINUATION_FLOOD);
        }
        if (length == 0) {
            emptyContinuations =
                    count(emptyContinuations, MAX_EMPTY_CONTINUATIONS, 0, Http2Violation.CONTINUATION_FLOOD);
        }
    }

    private void onAck() throws Http2Exception {
        acks = count(acks, MAX_ACKS, pingsSent, Http2Violation.ACK_FLOOD);
    }

    /**
     * Counts one more, unless that is too many.
     *
     * @param free how many there may be in any window of time
     * @param earned how many more, for what happened in this window
     */
    private int count(int sofar, int free, long earned, Http2Violation violation) throws Http2Exception {
        if (sofar < free) {
            return sofar + 1;
        }
        if (beginsWindow()) {
            return 1;
        }
        if (sofar >= free + earned) {
            throw violation(violation);
        }
        return sofar + 1;
    }

    /** Begins to count again if the window of time is over. The clock is asked only where something free is used up. */
    private boolean beginsWindow() {
        long now = timers.nanoTime();
        if (now - windowStart < WINDOW_NANOS) {
            return false;
        }
        resetsSentBefore = now - windowStart < 2 * WINDOW_NANOS ? resetsSent : 0;
        resetsSent = 0;
        windowStart = now;
        settings = pings = pingsSent = acks = goAways = priorities = emptyData = unknown = 0;
        windowUpdates =
                dataSent = streams = requests = resets = provoked = largeRefused = strays = emptyContinuations = 0;
        repeated = 0;
        return true;
    }

    /** We have opened a stream. */
    void onStreamOpened() {
        streams++;
        requests++;
    }

    /** A client's request was taken: it costs us and the upstream what requests cost. */
    void onRequest() {
        requests++;
    }

    /**
     * A client has given up a request soon after sending it, and had no whole answer. That costs it nothing; us it costs
     * the request, and often a connection to the upstream, however few requests may be in flight ("rapid reset"). Those
     * who give up half of their requests may do so a number of times; those who have many, with a small part of them.
     */
    void onRapidReset() throws Http2Exception {
        int most = Math.max(Math.min(requests / 2, MAX_RESETS_OF_HALF), requests / REQUESTS_PER_RESET);
        resets = count(resets, MAX_RESETS, Math.max(0, most - MAX_RESETS), Http2Violation.RAPID_RESET);
    }

    /**
     * A header block has been unpacked. Huffman's code and references to the table make the same bytes of few; only
     * naming the same fields again and again makes many more, which takes memory and time for nothing.
     *
     * @param bytes of names and values
     * @param block its bytes before
     */
    void onUnpacked(int bytes, int block) throws Http2Exception {
        long repeated = bytes - (long) MAX_RATIO * block - TABLE;
        if (repeated > 0) {
            onRepeated(repeated);
        }
    }

    /** The same of a block that was not unpacked to its end, and is known to have repeated that much. */
    void onRepeated(long bytes) throws Http2Exception {
        if (server) {
            repeated += bytes;
            if (repeated > MAX_REPEATED && !beginsWindow()) {
                throw violation(Http2Violation.HEADER_BOMB);
            }
        }
    }

    /** We answer a stream error by RST_STREAM: a peer may provoke that only so often ("MadeYouReset"). */
    void onProvokedReset() throws Http2Exception {
        if (server) {
            provoked = count(provoked, MAX_PROVOKED_RESETS, 0, Http2Violation.PROVOKED_RESETS);
        }
    }

    /**
     * A request was refused for lack of room, on a connection that holds more than its share. That alone is no abuse: the
     * connection may be a proxy's with many clients, and to end it would fail the requests of all of them. What takes the
     * room is large heads, and no proxy has them in most of its requests.
     *
     * @param head how large the head was, unpacked
     */
    void onRefused(int head) throws Http2Exception {
        if (head > LARGE_HEAD) {
            largeRefused = count(largeRefused, MAX_LARGE_REFUSED, requests / 2, Http2Violation.PROVOKED_RESETS);
        }
    }

    /** A DATA frame brought nothing of a body, not even its end. */
    void onEmptyData() throws Http2Exception {
        emptyData = count(emptyData, MAX_EMPTY_DATA, streams, Http2Violation.EMPTY_DATA_FLOOD);
    }

    /** A frame came for a stream that is gone or was never taken, and is ignored. */
    void onStray() throws Http2Exception {
        // One client that leaves must not end the connection to an upstream, which others share.
        long onTheirWay = server ? 0 : (long) STRAYS_PER_RESET * (resetsSent + resetsSentBefore);
        strays = count(strays, MAX_STRAYS, requests + onTheirWay, Http2Violation.STRAY_FRAME_FLOOD);
    }

    /** We have reset a stream. */
    void onResetSent() {
        beginsWindow(); // else the next stray frame might begin one, and forget this
        resetsSent++;
    }

    /** A tiny piece of a body was handed on, and is held somewhere until its stream is given credit or closes. */
    void onTinyHeld() throws Http2Exception {
        if (server && ++tinyHeld > MAX_TINY_HELD) {
            throw violation(Http2Violation.TINY_DATA_FLOOD);
        }
    }

    void onTinyGone(int count) {
        if (server) {
            tinyHeld -= count;
        }
    }

    void onDataSent() {
        dataSent++;
    }

    void onPingSent() {
        pingsSent++;
    }

    /** Whether a header block has begun whose end is still to come. */
    boolean isBlockOpen() {
        return blockOpen;
    }

    /** Returns the compressed size of the header block that began last, as far as its frames have announced it. */
    long headerBlock() {
        return headerBlock;
    }

    /** Reports a violation and returns the error that ends the connection. */
    Http2Exception violation(Http2Violation violation) {
        observer.onViolation(violation.kind());
        return new FloodException(violation);
    }

    /** A violation already reported. */
    static final class FloodException extends Http2Exception {
        FloodException(Http2Violation violation) {
            super(Http2Error.ENHANCE_YOUR_CALM, violation.kind(), ShutdownHint.HARD_SHUTDOWN);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
