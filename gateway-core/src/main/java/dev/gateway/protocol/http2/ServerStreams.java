package dev.gateway.protocol.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.net.UnsentBytes;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * The streams that a client opens on a server connection: each head that comes begins a request, is refused, or ends a
 * request as its trailers. Part of the connection, on its event loop.
 */
final class ServerStreams {
    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http2ServerSettings settings;
    private final Codec codec;
    private final OpenStreams streams;
    private final StreamContext shared;
    private final GoingAway goingAway;
    private final Priorities priorities;
    private int wideStreams;
    private boolean draining; // its listener is, and all streams are told

    ServerStreams(
            ConnectionInfo info,
            RequestHandler handler,
            Http2ServerSettings settings,
            Codec codec,
            StreamContext shared,
            GoingAway goingAway) {
        this.info = info;
        this.handler = handler;
        this.settings = settings;
        this.codec = codec;
        this.streams = shared.streams();
        this.shared = shared;
        this.goingAway = goingAway;
        this.priorities = new Priorities(
                codec.distributor(),
                settings.streams().maxConcurrent(),
                () -> UnsentBytes.limit(shared.sender().channel()));
        // Netty's own limit must never strike: see Codec.Encoder.
        codec.connection().remote().maxActiveStreams(Integer.MAX_VALUE);
    }

    // What streams ask for.

    ConnectionInfo info() {
        return info;
    }

    Http2ServerSettings settings() {
        return settings;
    }

    Priorities priorities() {
        return priorities;
    }

    /** Tells the client that the connection takes no more requests soon; returns whether it did not know yet. */
    boolean tellClose() {
        return goingAway.tellClose();
    }

    /** Whether the listener wants its connections closed soon. */
    boolean isDraining() {
        return draining;
    }

    /** Whether a stream gets more credit than each has from the start: it is one of few whose bytes are taken. */
    boolean widen(Http2Stream h2) {
        if (wideStreams == settings.streams().wide() || !DirectMemory.isAmple()) {
            return false;
        }
        wideStreams++;
        shared.windows()
                .add(h2, settings.streams().wideWindow() - settings.streams().window());
        return true;
    }

    // What the client does.

    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        codec.guard().onUnpacked(headers.unpacked(), codec.headers().blockLength());
        MultiplexedStream known = streams.of(h2);
        if (known != null) {
            shared.windows().ended(h2);
            known.onTrailers(headers);
        } else if (!isRefused(h2)) {
            String problem = HeadMapper.requestProblem(headers, last);
            if (problem != null) {
                refuseMalformed(h2, problem);
            }
            if (headers.isTooMany()) {
                shared.observer().onViolation(Http2Violation.HEADERS_TOO_LARGE.kind());
                answerOversized(
                        h2, "too many fields: more than " + settings.heads().maxFields() + " (limits.maxHeaders)");
            } else {
                Http2ServerStream stream = begin(h2, HeadMapper.request(headers, info.scheme(), last), last);
                if (stream.isRefused() && info.account().isGreedy()) {
                    codec.guard().onRefused(headers.unpacked());
                }
            }
        }
    }

    /** Refuses a new stream if the client has more of them than it may; whether it did. */
    private boolean isRefused(Http2Stream h2) {
        if (codec.connection().numActiveStreams() <= settings.streams().maxConcurrent()) {
            return false;
        }
        shared.sender().reset(h2, Http2Error.REFUSED_STREAM);
        return true;
    }

    /** Takes a request; nothing of its body has come yet. */
    Http2ServerStream begin(Http2Stream h2, RequestHead head, boolean last) {
        codec.guard().onRequest();
        Http2ServerStream stream = new Http2ServerStream(this, shared, head);
        streams.attach(h2, stream);
        info.account().charge(Cost.STREAM); // whether there is room for it, its exchange will find out
        stream.prioritise(priorities.onRequest(h2.id(), head.fields()));
        if (last) {
            stream.remoteEnded();
        }
        if (!head.isConnect()) {
            stream.expect(head.contentLength());
        }
        stream.touch();
        stream.begin(handler.onRequest(stream, head, last));
        if (draining) {
            stream.drain();
        }
        goingAway.onRequest();
        return stream;
    }

    /** The header list of a new stream was larger than we take. */
    void onOversized(Http2Stream h2) {
        if (!isRefused(h2)) {
            answerOversized(
                    h2,
                    "the fields are too large: more than " + settings.heads().maxBytes()
                            + " bytes (limits.maxHeaderBytes)");
        }
    }

    private void answerOversized(Http2Stream h2, String detail) {
        if (!info.account().tryCharge(Cost.STREAM)) {
            shared.sender().reset(h2, Http2Error.REFUSED_STREAM);
            return;
        }
        Http2ServerStream stream = new Http2ServerStream(this, shared, null);
        streams.attach(h2, stream);
        handler.onRefused(stream, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 431, detail));
    }

    /** The request is accounted for, but RFC 9113, section 8.1.1, wants its stream reset, not answered. */
    private void refuseMalformed(Http2Stream h2, String problem) throws Http2Exception {
        Http2ServerStream stream = new Http2ServerStream(this, shared, null);
        stream.die();
        handler.onRefused(stream, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, problem));
        throw Http2Exception.streamError(h2.id(), Http2Error.PROTOCOL_ERROR, problem);
    }

    void onPriorityUpdate(PriorityUpdate update) throws Http2Exception {
        int id = update.streamId();
        if (streams.of(id) instanceof Http2ServerStream stream) {
            priorities.onUpdate();
            stream.prioritise(update.priority());
        } else if (id > codec.connection().remote().lastStreamCreated() && !goingAway.isLastStreamSaid()) {
            priorities.onEarlyUpdate(update, codec.connection().numActiveStreams());
        }
    }

    void onClosed(@Nullable MultiplexedStream stream) {
        if (stream instanceof Http2ServerStream server) {
            server.discharge();
            wideStreams -= server.isWide() ? 1 : 0;
        }
    }

    // What the gateway does.

    /** The listener takes no new connections: tells the streams that are open, and those that are still to come. */
    void drain() {
        if (!draining) {
            draining = true;
            goingAway.retire();
            streams.forEach(stream -> ((Http2ServerStream) stream).drain());
        }
    }

    /** Ends all. */
    void giveUp(Failure failure) {
        streams.forEach(stream -> ((Http2ServerStream) stream).giveUp(failure));
    }
}
