package dev.gateway.protocol.http2;

import dev.gateway.overload.memory.DirectMemory;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * The policy of upstream HTTP/2 connections. Times are in milliseconds, 0 for no limit; sizes are in bytes.
 *
 * @param assumedStreams requests of one connection in flight if the peer does not say how many it takes
 * @param maxConcurrentStreams the most that there are if it says so; the connection's window grows for them
 * @param streamWindow body bytes an upstream may send on one stream beyond what was passed on
 * @param connectionWindow the same for as many streams together as are assumed, at least twice 65,535; with less than
 *     twice what the streams can fill, slow clients can stop others that share the connection
 * @param maxHeaderListSize of a response, as RFC 9113, section 6.5.2, counts it
 * @param maxHeaderFields of a response, counted
 * @param requestWriteIdleMillis without the upstream taking any of a request that waits for it
 */
public record Http2ClientSettings(
        int assumedStreams,
        int maxConcurrentStreams,
        int streamWindow,
        int connectionWindow,
        int maxHeaderListSize,
        int maxHeaderFields,
        long requestWriteIdleMillis) {
    /** What streams may have beyond their windows, all of a connection together, if their path is long. */
    static final int WINDOW_GROWTH = 8 * 1024 * 1024;

    /** The window of a stream while memory is not ample. */
    static final int NARROW_WINDOW = 64 * 1024;

    /** With less than this, streams begin with that window: hundreds may be waiting for clients that take nothing. */
    private static final long SMALL_MEMORY = 256 << 20;

    /** What suits any upstream: windows for one near by, which grow. */
    public static final Http2ClientSettings DEFAULT = new Http2ClientSettings(
            256,
            2048,
            DirectMemory.max() < SMALL_MEMORY ? NARROW_WINDOW : 256 * 1024,
            144 * 1024 * 1024,
            64 * 1024,
            200,
            60_000);

    Http2Settings wire() {
        return new Http2Settings()
                .pushEnabled(false)
                .initialWindowSize(streamWindow)
                .maxHeaderListSize(maxHeaderListSize);
    }
}
