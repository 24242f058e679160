package dev.gateway.protocol.http2;

import dev.gateway.net.ConnectionTimeouts;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * The policy of downstream HTTP/2 connections.
 *
 * @param minBodyRate bytes per second that a client must send to be read on after its answer, 0 for any
 */
public record Http2ServerSettings(Streams streams, Heads heads, ConnectionTimeouts timeouts, long minBodyRate) {
    /** Makes settings that let a client send as slowly as it likes. */
    public Http2ServerSettings(Streams streams, Heads heads, ConnectionTimeouts timeouts) {
        this(streams, heads, timeouts, 0);
    }

    /**
     * How much of a connection may be under way. Sizes are in bytes.
     *
     * @param maxConcurrent requests of one connection in flight; more are refused one by one
     * @param window body bytes a client may send on one stream beyond what was passed on; at least the protocol's default
     * @param wideWindow the same on a stream of which some were passed on
     * @param wide how many streams of a connection may have that at the same time
     */
    public record Streams(int maxConcurrent, int window, int wideWindow, int wide) {
        /**
         * What suits browsers and gRPC clients. Clients send up to the protocol's default window before they have read our
         * settings. Some clients cannot cope if a smaller window then makes theirs negative (RFC 9113, section 6.9.2).
         */
        public static final Streams DEFAULT = new Streams(256, Http2CodecUtil.DEFAULT_WINDOW_SIZE, 256 * 1024, 16);

        public Streams {
            if (window < Http2CodecUtil.DEFAULT_WINDOW_SIZE) {
                throw new IllegalArgumentException("a window below the protocol's default: " + window);
            }
        }

        /** Returns the same for another number of requests in flight. */
        public Streams withMaxConcurrent(int max) {
            return new Streams(max, window, wideWindow, wide);
        }
    }

    /**
     * How large the header list of a request may be.
     *
     * @param maxBytes as RFC 9113, section 6.5.2, counts them
     * @param maxFields how many fields
     */
    public record Heads(int maxBytes, int maxFields) {}

    private static final int MIN_CONNECTION_WINDOW = 2 * 65_535;

    /** What streams may have beyond that, all of a connection together, if their path is long: 84 MB/s over 50 ms. */
    static final int WINDOW_GROWTH = 4 * 1024 * 1024;

    /** What suits browsers and gRPC clients; for tests and as a base to change. */
    public static final Http2ServerSettings DEFAULT = new Http2ServerSettings(
            Streams.DEFAULT, new Heads(64 * 1024, 200), new ConnectionTimeouts(10_000, 60_000, 75_000, 0, 60_000));

    Http2Settings wire() {
        Http2Settings wire = new Http2Settings()
                .maxConcurrentStreams(streams.maxConcurrent)
                .initialWindowSize(streams.window)
                .maxHeaderListSize(heads.maxBytes);
        wire.put((char) 9, Long.valueOf(1)); // SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218, section 2.1)
        return wire.connectProtocolEnabled(true);
    }

    /**
     * Returns the window of all streams together: twice what they can fill, because it is given back only when half of it
     * is used up. So streams whose bytes nobody takes cannot stop others, of whatever client.
     */
    int connectionWindow() {
        long all = (long) streams.maxConcurrent * streams.window
                + (long) streams.wide * (streams.wideWindow - streams.window)
                + WINDOW_GROWTH;
        return (int) Math.min(Integer.MAX_VALUE, Math.max(MIN_CONNECTION_WINDOW, 2 * all));
    }
}
