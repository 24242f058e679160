package dev.gateway.protocol.http2;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2PromisedRequestVerifier;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * The parts of Netty's HTTP/2 codec for one connection, put together our way. Many, but each has a type of its own, and
 * they are made in one place.
 */
record Codec(
        Http2Connection connection,
        Encoder encoder,
        Decoder decoder,
        HeadersDecoder headers,
        FrameReader reader,
        FrameWriter writer,
        ClosedStreams closed,
        LateFrames late,
        FloodGuard guard,
        PriorityDistributor distributor,
        Http2Settings settings,
        ConnectionObserver observer,
        TimerWheel timers) {
    static Codec of(
            boolean server,
            Http2Settings settings,
            int maxStreams,
            int maxFields,
            ConnectionObserver observer,
            TimerWheel timers) {
        Long listSize = settings.maxHeaderListSize();
        long maxHeaderListSize = listSize == null ? Http2CodecUtil.MAX_HEADER_LIST_SIZE : listSize;
        Http2Connection connection = new DefaultHttp2Connection(server, 0);
        PriorityDistributor distributor = new PriorityDistributor(connection);
        FloodGuard guard = new FloodGuard(server, timers, observer, maxHeaderListSize);
        FrameWriter writer = new FrameWriter(guard, observer);
        connection.remote().flowController(new Outbound(connection, distributor, writer));
        connection.local().flowController(new DefaultHttp2LocalFlowController(connection));
        ClosedStreams closed = new ClosedStreams(connection, maxStreams);
        HeadersDecoder headers = new HeadersDecoder(maxHeaderListSize, maxFields, server);
        headers.gate(closed::onHeaderBlock);
        LateFrames late = new LateFrames(connection, closed, guard);
        FrameReader reader = new FrameReader(headers, guard, observer, late);
        Encoder encoder = new Encoder(connection, writer);
        Decoder decoder = new Decoder(connection, encoder, reader);
        return new Codec(
                connection,
                encoder,
                decoder,
                headers,
                reader,
                writer,
                closed,
                late,
                guard,
                distributor,
                settings,
                observer,
                timers);
    }

    /** Netty's flow control, after which all that was written is the channel's: each flush by the connection begins with it. */
    static final class Outbound extends DefaultHttp2RemoteFlowController {
        private final FrameWriter writer;

        Outbound(Http2Connection connection, PriorityDistributor distributor, FrameWriter writer) {
            super(connection, distributor);
            this.writer = writer;
        }

        @Override
        public void writePendingBytes() throws Http2Exception {
            super.writePendingBytes();
            writer.emit(channelHandlerContext());
        }
    }

    /** Netty's encoder, except that the limit of concurrent streams stays with us (RFC 9113, section 5.1.2). */
    static final class Encoder extends DefaultHttp2ConnectionEncoder {
        Encoder(Http2Connection connection, Http2FrameWriter writer) {
            super(connection, writer);
        }

        /**
         * Netty refuses a stream beyond the limit before it knows the stream, so that the next frame on it ends the
         * connection; we know it, and then reset it.
         */
        @Override
        @SuppressWarnings("NullAway") // null when no SETTINGS is outstanding, as Netty has it
        public @Nullable Http2Settings pollSentSettings() {
            Http2Settings settings = super.pollSentSettings();
            if (settings != null) {
                settings = new Http2Settings().copyFrom(settings);
                settings.remove((char) 3);
            }
            return settings;
        }
    }

    /** Netty's decoder without the checks that {@link ReceivedHeaders} makes. */
    static final class Decoder extends DefaultHttp2ConnectionDecoder {
        Decoder(Http2Connection connection, Encoder encoder, FrameReader reader) {
            super(connection, encoder, reader, Http2PromisedRequestVerifier.ALWAYS_VERIFY, true, true, false, false);
        }

        @Override
        protected long calculateMaxHeaderListSizeGoAway(long maxHeaderListSize) {
            return maxHeaderListSize * HeadersDecoder.READ_ON;
        }
    }
}
