package dev.gateway.protocol.http2;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.StreamException;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/** What is done about a peer that breaks the rules on one stream of a connection. Part of that. */
final class StreamErrors {
    private final MultiplexedConnection connection;
    private final Codec codec;
    private final OpenStreams streams;
    private final StreamSender sender;

    StreamErrors(MultiplexedConnection connection, Codec codec, OpenStreams streams, StreamSender sender) {
        this.connection = connection;
        this.codec = codec;
        this.streams = streams;
        this.sender = sender;
    }

    /** Ends the stream that an error is about, or the connection if there are too many of them. */
    void on(ChannelHandlerContext ctx, boolean outbound, StreamException error) {
        int id = error.streamId();
        Http2Stream h2 = codec.connection().stream(id);
        if (!outbound && h2 == null && codec.closed().wasResetByUs(id)) {
            isFlood(ctx, codec.guard()::onStray);
            return; // what the peer had sent before it learnt of our reset (RFC 9113, section 5.4.2)
        }
        if (error instanceof Http2Exception.HeaderListSizeException size && size.duringDecode()) {
            onHeaderListTooLarge(ctx, h2, size);
            return;
        }
        if (!outbound && error.error() != Http2Error.REFUSED_STREAM) {
            codec.observer().onViolation(Http2Violation.MALFORMED_MESSAGE.kind());
            if (isTooManyProvoked(ctx)) {
                return;
            }
        }
        if (h2 != null) {
            refuse(h2, error, String.valueOf(error.getMessage()));
        } else if (!outbound) {
            resetUnknown(ctx, id, error.error());
        }
    }

    /** Something of which there may be too much. */
    private interface Count {
        void add() throws Http2Exception;
    }

    /** Counts what the peer has done; if that was too often, ends the connection and returns true. */
    private boolean isFlood(ChannelHandlerContext ctx, Count count) {
        try {
            count.add();
            return false;
        } catch (Http2Exception flood) {
            connection.onFlood(ctx, flood);
            return true;
        }
    }

    private boolean isTooManyProvoked(ChannelHandlerContext ctx) {
        return isFlood(ctx, codec.guard()::onProvokedReset);
    }

    private void onHeaderListTooLarge(ChannelHandlerContext ctx, @Nullable Http2Stream known, StreamException error) {
        Long limit = codec.settings().maxHeaderListSize();
        if (limit != null && codec.headers().blockLength() < limit / 8) {
            connection.onFlood(ctx, codec.guard().violation(Http2Violation.HEADER_BOMB));
            return;
        }
        int id = error.streamId();
        if (codec.late().isBeyondLast(id)) {
            isFlood(ctx, codec.guard()::onStray);
            return; // its stream is not taken, whatever the head
        }
        codec.observer().onViolation(Http2Violation.HEADERS_TOO_LARGE.kind());
        if (known == null
                && limit != null
                && codec.headers().blockLength() < limit
                && isFlood(ctx, () -> codec.guard().onRepeated(limit))) {
            return;
        }
        Http2Stream h2 = known;
        if (h2 == null && codec.connection().isServer()) {
            try {
                h2 = codec.connection().remote().createStream(id, false);
            } catch (Http2Exception e) {
                resetUnknown(ctx, id, Http2Error.REFUSED_STREAM);
                return;
            }
        }
        if (h2 == null) {
            resetUnknown(ctx, id, error.error());
        } else if (streams.of(h2) == null) {
            connection.onOversized(h2);
        } else if (!isTooManyProvoked(ctx)) {
            refuse(h2, error, "more header or trailer fields than allowed");
        }
    }

    private void refuse(Http2Stream h2, StreamException error, String detail) {
        MultiplexedStream stream = streams.of(h2);
        if (stream != null) {
            stream.fail(stream.malformed(detail));
            stream.die();
        }
        sender.reset(h2, error.error());
    }

    private void resetUnknown(ChannelHandlerContext ctx, int id, Http2Error error) {
        connection.resetStream(ctx, id, error.code(), ctx.newPromise());
    }
}
