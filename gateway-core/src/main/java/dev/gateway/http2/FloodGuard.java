package dev.gateway.http2;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Counts what costs a peer little and us much, and ends the connection that does too much of it (RFC 9113, section
 * 10.5). Counts are per window of time, generous to every client known and far below what an attack needs.
 */
final class FloodGuard {
    static final int MAX_SETTINGS = 100;
    static final int MAX_PINGS = 5_000; // besides those by which gRPC measures each round trip of what we send it
    static final int MAX_PRIORITIES = 2_000;
    static final int MAX_EMPTY_DATA = 200;
    static final int TINY = 32; // bytes of DATA that cost far less than their bookkeeping
    static final int MAX_TINY_HELD = 65_536;
    static final int MAX_UNKNOWN = 2_000;
    static final int MAX_WINDOW_UPDATES = 2_000;
    static final int WINDOW_UPDATES_PER_DATA_FRAME = 10;
    static final int MAX_RESETS = 200;
    static final int MAX_PROVOKED_RESETS = 100;
    static final int MAX_CONTINUATIONS = 64;
    private static final long WINDOW_NANOS = 10_000_000_000L;

    private final boolean server;
    private final TimerWheel timers;
    private final ConnectionObserver observer;
    private final long maxHeaderBlock;
    private long windowStart;
    private int settings;
    private int pings;
    private int priorities;
    private int emptyData;
    private int tinyHeld; // now, not per window of time
    private int unknown;
    private int windowUpdates;
    private int dataSent;
    private int streams;
    private int resets;
    private int provoked;
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
    void onFrame(int type, int flags, int length) throws Http2Exception {
        switch (type) {
            case Http2FrameTypes.DATA -> {
                if (length == 0 && (flags & Http2Flags.END_STREAM) == 0) {
                    emptyData = count(emptyData, MAX_EMPTY_DATA + streams, Violation.EMPTY_DATA_FLOOD);
                }
            }
            case Http2FrameTypes.HEADERS -> {
                streams++;
                continuations = 0;
                headerBlock = length;
                blockOpen = (flags & Http2Flags.END_HEADERS) == 0;
            }
            case Http2FrameTypes.CONTINUATION -> onContinuation(flags, length);
            case Http2FrameTypes.PRIORITY, PriorityUpdate.TYPE ->
                priorities = count(priorities, MAX_PRIORITIES + streams, Violation.PRIORITY_FLOOD);
            case Http2FrameTypes.RST_STREAM -> {
                if (server) {
                    resets = count(resets, Math.max(MAX_RESETS, streams / 2), Violation.RAPID_RESET);
                }
            }
            case Http2FrameTypes.SETTINGS -> {
                if ((flags & Http2Flags.ACK) == 0) {
                    settings = count(settings, MAX_SETTINGS, Violation.SETTINGS_FLOOD);
                }
            }
            case Http2FrameTypes.PING -> {
                if ((flags & Http2Flags.ACK) == 0) {
                    pings = count(pings, MAX_PINGS + dataSent, Violation.PING_FLOOD);
                }
            }
            case Http2FrameTypes.WINDOW_UPDATE ->
                windowUpdates = count(
                        windowUpdates,
                        MAX_WINDOW_UPDATES + WINDOW_UPDATES_PER_DATA_FRAME * dataSent + streams,
                        Violation.WINDOW_UPDATE_FLOOD);
            case Http2FrameTypes.GO_AWAY, Http2FrameTypes.PUSH_PROMISE -> {}
            default -> unknown = count(unknown, MAX_UNKNOWN + streams, Violation.UNKNOWN_FRAME_FLOOD);
        }
    }

    private void onContinuation(int flags, int length) throws Http2Exception {
        headerBlock += length;
        blockOpen &= (flags & Http2Flags.END_HEADERS) == 0;
        if (++continuations > MAX_CONTINUATIONS || headerBlock > maxHeaderBlock) {
            throw violation(Violation.CONTINUATION_FLOOD);
        }
    }

    private int count(int sofar, int limit, Violation violation) throws Http2Exception {
        if (sofar < limit) {
            return sofar + 1;
        }
        long now = timers.nanoTime(); // the clock is asked only at a limit
        if (now - windowStart < WINDOW_NANOS) {
            throw violation(violation);
        }
        windowStart = now;
        settings =
                pings = priorities = emptyData = unknown = windowUpdates = dataSent = streams = resets = provoked = 0;
        return 1;
    }

    /** We answer a stream error by RST_STREAM: a peer may provoke that only so often ("MadeYouReset"). */
    void onProvokedReset() throws Http2Exception {
        if (server) {
            provoked = count(provoked, MAX_PROVOKED_RESETS, Violation.PROVOKED_RESETS);
        }
    }

    /** A tiny piece of a body was handed on, and is held somewhere until its stream is given credit or closes. */
    void onTinyHeld() throws Http2Exception {
        if (server && ++tinyHeld > MAX_TINY_HELD) {
            throw violation(Violation.TINY_DATA_FLOOD);
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

    /** Whether a header block has begun whose end is still to come. */
    boolean isBlockOpen() {
        return blockOpen;
    }

    /** Reports a violation and returns the error that ends the connection. */
    Http2Exception violation(Violation violation) {
        observer.onViolation(violation.kind());
        return new FloodException(violation);
    }

    /** A violation already reported. */
    static final class FloodException extends Http2Exception {
        FloodException(Violation violation) {
            super(Http2Error.ENHANCE_YOUR_CALM, violation.kind(), ShutdownHint.HARD_SHUTDOWN);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
