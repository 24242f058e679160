package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * Recently closed streams of one connection, which Netty has forgotten: decides about late frames for them (RFC 9113, section
 * 5.1). On the connection's event loop.
 */
final class ClosedStreams {
    private static final int LEAST = 256; // a client may open that many before it hears of a lower limit
    private static final int MOST = 1 << 14; // all are looked through
    private static final int[] NONE = {};

    private final Http2Connection connection;
    private final int remembered; // a power of two
    private int[] resets = NONE; // stream ids, negative where the peer reset it
    private int resetCount;
    private int lastOpened = -1; // stream ids, to know the ones a peer passed over most recently
    private int gapStart;
    private int gapEnd;

    /** Remembers at least as many resets as there may be streams at a time, which can all be reset at once. */
    ClosedStreams(Http2Connection connection, int streams) {
        this.connection = connection;
        this.remembered = Integer.highestOneBit(Math.max(LEAST, Math.min(streams, MOST)) * 2 - 1);
    }

    void onOpened(int streamId) {
        if (streamId - lastOpened > 2) {
            gapStart = lastOpened;
            gapEnd = streamId;
        }
        lastOpened = streamId;
    }

    void onResetByUs(int streamId) {
        remember(streamId);
    }

    void onResetByPeer(int streamId) {
        remember(-streamId);
    }

    private void remember(int mark) {
        if (resets.length == 0) { // most connections never need it
            resets = new int[remembered];
        }
        resets[resetCount++ & (resets.length - 1)] = mark;
    }

    /** Whether we have reset the stream, so that what its peer sent before it learnt of that is no offence. */
    boolean wasResetByUs(int streamId) {
        return isRemembered(streamId);
    }

    private boolean isRemembered(int mark) {
        for (int id : resets) {
            if (id == mark) {
                return true;
            }
        }
        return false;
    }

    /**
     * Judges a header block by its stream, and by what became of that: Netty takes every one on a stream that it has
     * forgotten for the same error.
     */
    void onHeaderBlock(int streamId) throws Http2Exception {
        Http2Stream h2 = connection.stream(streamId);
        if (h2 != null) {
            if (h2.state() == Http2Stream.State.HALF_CLOSED_REMOTE && !h2.isResetSent()) {
                throw Http2Exception.streamError(streamId, Http2Error.STREAM_CLOSED, "HEADERS after END_STREAM");
            }
        } else if (connection.remote().mayHaveCreatedStream(streamId)
                && !isRemembered(streamId)
                && !isRemembered(-streamId)) {
            // RFC 9113, section 5.1.1 for a number passed over, section 5.1 for a stream that has ended.
            Http2Error error =
                    streamId > gapStart && streamId < gapEnd ? Http2Error.PROTOCOL_ERROR : Http2Error.STREAM_CLOSED;
            throw Http2Exception.connectionError(error, "HEADERS on a closed stream");
        }
    }
}
