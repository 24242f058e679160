package dev.gateway.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.net.Drainable;
import dev.gateway.net.UnsentBytes;
import dev.gateway.overload.Account;
import dev.gateway.overload.Cost;
import dev.gateway.overload.DirectMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * A downstream connection of HTTP/2 (RFC 9113). The listener puts it last into the pipeline of an active channel, after
 * ALPN or once the client's preface was seen, then passes on the bytes read so far. Each HEADERS that opens a stream
 * goes to the {@link RequestHandler}. All on the channel's event loop.
 */
public final class Http2ServerConnection extends MultiplexedConnection implements Drainable, GoingAway.Owner {
    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http2ServerSettings settings;
    private final Priorities priorities;
    private final Timer idleTimer = new IdleTimer();
    private final Timer ageTimer = new AgeTimer();
    private final Timer headersTimer = new HeadersTimer();
    private final GoingAway goingAway = new GoingAway(this, timers);
    private long idleSince;
    private boolean prefaceSeen;
    private int wideStreams;
    private boolean drainTold;

    private Http2ServerConnection(
            ConnectionInfo info, RequestHandler handler, Http2ServerSettings settings, Codec codec) {
        super(codec, settings.connectionWindow(), Http2ServerSettings.WINDOW_GROWTH);
        this.info = info;
        this.handler = handler;
        this.settings = settings;
        this.priorities = new Priorities(
                codec.distributor(),
                settings.maxConcurrentStreams(),
                () -> UnsentBytes.limit(context().channel()));
        // Netty's own limit must never strike: see Codec.Encoder.
        codec.connection().remote().maxActiveStreams(Integer.MAX_VALUE);
    }

    /**
     * Makes the handler of one connection.
     *
     * @param info says {@code HTTP_2} and how the connection is secured, which is each request's scheme
     */
    public static Http2ServerConnection create(
            ConnectionInfo info,
            RequestHandler handler,
            ConnectionObserver observer,
            TimerWheel timers,
            Http2ServerSettings settings) {
        Codec codec = Codec.of(
                true, settings.wire(), settings.maxConcurrentStreams(), settings.maxHeaderFields(), observer, timers);
        return new Http2ServerConnection(info, handler, settings, codec);
    }

    /**
     * Starts with a request that came by HTTP/1.1 with {@code Upgrade: h2c}: it has no body, and is answered on stream 1.
     * To be called once, after the 101 response was written and this was added to the pipeline.
     *
     * @param payload the value of {@code HTTP2-Settings}, decoded
     * @throws IllegalArgumentException if that is not valid; the connection is then as it was
     */
    public void upgrade(RequestHead head, byte[] payload) {
        try {
            onHttpServerUpgrade(UpgradeSettings.parse(payload));
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(e);
        }
        Http2Stream h2 = connection().stream(1);
        if (h2 != null) {
            begin(h2, head, true);
            flush(context());
        }
    }

    ConnectionInfo info() {
        return info;
    }

    @Override
    Object culprit() {
        return info;
    }

    @Override
    Account account() {
        return info.account();
    }

    Http2ServerSettings settings() {
        return settings;
    }

    Priorities priorities() {
        return priorities;
    }

    @Override
    void onPriorityUpdate(PriorityUpdate update) throws Http2Exception {
        int id = update.streamId();
        Http2Stream h2 = connection().stream(id);
        if (h2 != null && stream(h2) instanceof Http2ServerStream stream) {
            priorities.onUpdate();
            stream.prioritise(update.priority());
        } else if (id > lastStream() && !goingAway.isLastStreamSaid()) {
            priorities.onEarlyUpdate(update, connection().numActiveStreams());
        }
    }

    @Override
    long writeIdleMillis() {
        return settings.responseWriteIdleMillis();
    }

    // Streams.

    @Override
    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        guard().onUnpacked(headers.unpacked(), headerBlockLength());
        MultiplexedStream known = stream(h2);
        if (known != null) {
            onTrailers(h2, known, headers);
        } else if (!isRefused(h2)) {
            String problem = HeadMapper.requestProblem(headers, last);
            if (problem != null) {
                refuseMalformed(h2, problem);
            }
            if (headers.isTooMany()) {
                observer.onViolation(Violation.HEADERS_TOO_LARGE.kind());
                answerOversized(
                        h2, "too many fields: more than " + settings.maxHeaderFields() + " (limits.maxHeaders)");
            } else {
                Http2ServerStream stream = begin(h2, HeadMapper.request(headers, info.scheme(), last), last);
                if (stream.isRefused() && info.account().isGreedy()) {
                    guard().onRefused(headers.unpacked());
                }
            }
        }
    }

    /** Refuses a new stream if the client has more of them than it may; whether it did. */
    private boolean isRefused(Http2Stream h2) {
        if (connection().numActiveStreams() <= settings.maxConcurrentStreams()) {
            return false;
        }
        resetStream(h2, Http2Error.REFUSED_STREAM);
        return true;
    }

    private void onTrailers(Http2Stream h2, MultiplexedStream stream, ReceivedHeaders headers) throws Http2Exception {
        windows().ended(h2);
        String problem = headers.hasPseudo() ? "a pseudo-header field in trailers" : headers.problem();
        if (problem != null || headers.isTooMany()) {
            throw streamError(stream, problem != null ? problem : "too many trailer fields");
        }
        stream.onTrailers(headers.fields());
    }

    private Http2ServerStream begin(Http2Stream h2, RequestHead head, boolean last) {
        guard().onRequest();
        Http2ServerStream stream = new Http2ServerStream(this, head);
        stream.attach(h2);
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
        if (drainTold) {
            tellDraining(stream);
        }
        goingAway.onRequest();
        return stream;
    }

    @Override
    void onOversized(Http2Stream h2) {
        if (!isRefused(h2)) {
            answerOversized(
                    h2,
                    "the fields are too large: more than " + settings.maxHeaderListSize()
                            + " bytes (limits.maxHeaderBytes)");
        }
    }

    private void answerOversized(Http2Stream h2, String detail) {
        if (!info.account().tryCharge(Cost.STREAM)) {
            resetStream(h2, Http2Error.REFUSED_STREAM);
            return;
        }
        Http2ServerStream stream = new Http2ServerStream(this, null);
        stream.attach(h2);
        handler.onRefused(stream, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 431, detail));
    }

    /** The request is accounted for, but RFC 9113, section 8.1.1, wants its stream reset, not answered. */
    private void refuseMalformed(Http2Stream h2, String problem) throws Http2Exception {
        Http2ServerStream stream = new Http2ServerStream(this, null);
        stream.die();
        handler.onRefused(stream, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, problem));
        throw Http2Exception.streamError(h2.id(), Http2Error.PROTOCOL_ERROR, problem);
    }

    @Override
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        boolean rapid = stream instanceof Http2ServerStream server && server.isYoungAndUnanswered();
        super.onResetByPeer(stream, errorCode);
        if (rapid) {
            guard().onRapidReset();
        }
    }

    @Override
    void onLocalHalfClosed(MultiplexedStream stream) {
        if (stream.isOver()) {
            // The request goes on after its response: what is left of it may still be in this batch of reads.
            if (isReading()) {
                stream.touch();
            } else {
                refuseRest(stream);
            }
        }
    }

    private void refuseRest(MultiplexedStream stream) {
        Http2Stream h2 = stream.h2();
        if (h2 != null && stream.isOver() && h2.state() == Http2Stream.State.HALF_CLOSED_LOCAL) {
            resetStream(h2, Http2Error.NO_ERROR); // RFC 9113, section 8.1
        }
    }

    @Override
    void afterRead() {
        for (int i = 0; i < touchedStreams().size(); i++) {
            refuseRest(touchedStreams().get(i));
        }
        if (frameReader().isWithinHeaders()) {
            if (!headersTimer.isArmed() && settings.requestHeadersMillis() > 0) {
                timers.arm(headersTimer, settings.requestHeadersMillis());
            }
        } else if (prefaceSeen) {
            headersTimer.cancel();
        }
    }

    @Override
    void onStreamClosed(@Nullable MultiplexedStream stream) {
        if (stream instanceof Http2ServerStream server) {
            info.account().release(Cost.STREAM);
            wideStreams -= server.isWide() ? 1 : 0;
        }
        if (!hasStreams()) {
            idleSince = timers.nanoTime();
            if (goingAway.isLastStreamSaid()) {
                closeAfterWrites();
            }
        }
    }

    /** Whether a stream gets more credit than each has from the start: it is one of few whose bytes are taken. */
    boolean widen(Http2Stream h2) {
        if (wideStreams == settings.wideStreams() || !DirectMemory.isAmple()) {
            return false;
        }
        wideStreams++;
        windows().add(h2, settings.wideStreamWindow() - settings.streamWindow());
        return true;
    }

    // Life.

    @Override
    void onActive() {
        idleSince = timers.nanoTime();
        arm(idleTimer, settings.idleMillis());
        arm(ageTimer, settings.maxConnectionAgeMillis());
        arm(headersTimer, settings.requestHeadersMillis());
    }

    private void arm(Timer timer, long millis) {
        if (millis > 0) {
            timers.arm(timer, millis);
        }
    }

    @Override
    void onInactive() {
        idleTimer.cancel();
        ageTimer.cancel();
        headersTimer.cancel();
        goingAway.cancel();
    }

    @Override
    public boolean isIdle() {
        return !hasStreams();
    }

    // What GoingAway asks for.

    @Override
    public int lastStream() {
        return connection().remote().lastStreamCreated();
    }

    @Override
    public boolean hasStreams() {
        return connection().numActiveStreams() > 0;
    }

    @Override
    public void announce(long ping) {
        ChannelHandlerContext ctx = context();
        goAway(ctx, Integer.MAX_VALUE);
        encoder().writePing(ctx, false, ping, ctx.newPromise());
        flush(ctx);
    }

    @Override
    public void endAfter(int lastStream) {
        lateFrames().onLastStreamSaid(lastStream);
        goAway(context(), lastStream);
        if (hasStreams()) {
            requestFlush();
        } else {
            closeAfterWrites();
        }
    }

    private void goAway(ChannelHandlerContext ctx, int lastStream) {
        goAway(ctx, lastStream, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
    }

    @Override
    public void announceClose() {
        goingAway.announceClose();
    }

    @Override
    public void drain() {
        if (!drainTold) {
            drainTold = true;
            goingAway.retire();
            forEachStream(Http2ServerConnection::tellDraining);
        }
    }

    private static void tellDraining(MultiplexedStream stream) {
        StreamEvents events = stream.events();
        if (events != null) {
            events.onDraining();
        }
    }

    @Override
    void onSettings(Http2Settings received) {
        prefaceSeen = true;
    }

    @Override
    void onPingAck(long data) {
        goingAway.onPingAck(data);
    }

    @Override
    public void end(Failure failure) {
        if (isOpen()) {
            forEachStream(stream -> ((Http2ServerStream) stream).giveUp(failure));
            goingAway.sayLastStream();
            closeAfterWrites();
        } else {
            context().close();
        }
    }

    private final class IdleTimer extends Timer {
        @Override
        protected void onExpired() {
            long idle = hasStreams() ? 0 : (timers.nanoTime() - idleSince) / 1_000_000;
            if (idle < settings.idleMillis()) {
                watchUnsent();
                timers.arm(this, settings.idleMillis() - idle);
            } else {
                observer.onIdleClosed();
                end(Http2Error.NO_ERROR, "");
            }
        }
    }

    private final class AgeTimer extends Timer {
        @Override
        protected void onExpired() {
            goingAway.retire();
        }
    }

    private final class HeadersTimer extends Timer {
        @Override
        protected void onExpired() {
            observer.onViolation(Violation.SLOW_HEADERS.kind());
            end(Http2Error.ENHANCE_YOUR_CALM, Violation.SLOW_HEADERS.kind());
        }
    }
}
