package dev.gateway.protocol.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.net.Drainable;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
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
public final class Http2ServerConnection extends MultiplexedConnection implements Drainable {
    private final Http2ServerSettings settings;
    private final Timer idleTimer = new IdleTimer();
    private final Timer ageTimer = new AgeTimer();
    private final Timer headersTimer = new HeadersTimer();
    final GoingAway goingAway = new GoingAway(this, timers);
    private final ServerStreams requests;
    private final UnfinishedInput unfinished;
    private boolean holding; // something unfinished
    private long idleSince;
    private boolean prefaceSeen;

    private Http2ServerConnection(
            ConnectionInfo info, RequestHandler handler, Http2ServerSettings settings, Codec codec) {
        super(
                codec,
                settings.connectionWindow(),
                Http2ServerSettings.WINDOW_GROWTH,
                info.account(),
                info.culprit(),
                settings.timeouts().responseWriteIdleMillis());
        this.settings = settings;
        this.unfinished = new UnfinishedInput(info.account(), info.culprit(), this::endUnfinished);
        this.requests = new ServerStreams(info, handler, settings, codec, shared(), goingAway);
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
                true,
                settings.wire(),
                settings.streams().maxConcurrent(),
                settings.heads().maxFields(),
                observer,
                timers);
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
            requests.begin(h2, head, true);
            flush(context());
        }
    }

    // Streams.

    @Override
    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        requests.onHeaders(h2, headers, last);
    }

    @Override
    void onOversized(Http2Stream h2) {
        requests.onOversized(h2);
    }

    @Override
    void onPriorityUpdate(PriorityUpdate update) throws Http2Exception {
        requests.onPriorityUpdate(update);
    }

    @Override
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        boolean rapid = stream instanceof Http2ServerStream server && server.isYoungAndUnanswered();
        super.onResetByPeer(stream, errorCode);
        if (rapid) {
            codec.guard().onRapidReset();
        }
    }

    @Override
    void afterRead() {
        boolean waits = codec.reader().isUnfinished();
        if (waits && codec.reader().isWithinHeaders()) {
            if (!headersTimer.isArmed() && settings.timeouts().requestHeadersMillis() > 0) {
                timers.arm(headersTimer, settings.timeouts().requestHeadersMillis());
            }
        } else if (prefaceSeen) {
            headersTimer.cancel();
        }
        if (waits || holding || !prefaceSeen) {
            holdUnfinished();
        }
    }

    /** Charges the client for what waits for the rest of a frame, a header block or the preface. */
    private void holdUnfinished() {
        ByteBuf unread = internalBuffer();
        long waits = unread.isReadable() ? BufferCost.direct(unread) : 0;
        if (codec.reader().takeCompleted()) {
            unfinished.resume(); // what waits now has not waited before
        }
        long bytes = waits + codec.reader().blockBytes();
        holding = bytes > 0;
        boolean room = unfinished.hold(bytes);
        // A partial frame of an upload ends no connection: uploads are cut only if memory runs low.
        if (!room && codec.reader().isWithinHeaders()) {
            endUnfinished();
        }
    }

    /** There is no memory for what waits. It is freed when the channel closes, so that is at once. */
    private void endUnfinished() {
        if (isOpen()) {
            onFlood(context(), codec.guard().violation(Http2Violation.UNFINISHED_INPUT));
        }
        context().close();
    }

    @Override
    void onStreamClosed(@Nullable MultiplexedStream stream) {
        requests.onClosed(stream);
        if (!hasStreams()) {
            idleSince = timers.nanoTime();
            if (goingAway.isLastStreamSaid()) {
                closeAfterWrites();
            }
        }
    }

    // Life.

    @Override
    void onActive() {
        idleSince = timers.nanoTime();
        arm(idleTimer, settings.timeouts().idleMillis());
        arm(ageTimer, settings.timeouts().maxConnectionAgeMillis());
        arm(headersTimer, settings.timeouts().requestHeadersMillis());
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
        unfinished.release();
    }

    @Override
    public boolean isIdle() {
        return !hasStreams();
    }

    @Override
    public boolean hasServed() {
        return lastStream() > 0;
    }

    // What GoingAway asks for.

    /** Returns the last stream that the client has opened, 0 if it has opened none. */
    int lastStream() {
        return connection().remote().lastStreamCreated();
    }

    /** Whether any stream is open. */
    boolean hasStreams() {
        return connection().numActiveStreams() > 0;
    }

    /** Says by GOAWAY that new streams will be refused, and asks by PING whether that was read; flushes both. */
    void announce(long ping) {
        ChannelHandlerContext ctx = context();
        goAway(ctx, Integer.MAX_VALUE);
        shared().ending().onAsked();
        encoder().writePing(ctx, false, ping, ctx.newPromise());
        flush(ctx);
    }

    /** Says by GOAWAY that no stream above this one is taken, and closes once those that are open are done. */
    void endAfter(int lastStream) {
        codec.late().onLastStreamSaid(lastStream);
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
        requests.drain();
    }

    @Override
    void onSettings(Http2Settings received) {
        prefaceSeen = true;
    }

    @Override
    void onPingAnswered(long data) {
        if (data == GoingAway.PING) {
            shared().ending().onAnswered();
        }
        goingAway.onPingAck(data);
    }

    @Override
    public void end(Failure failure) {
        if (isOpen()) {
            requests.giveUp(failure);
            goingAway.sayLastStream();
            closeSoonAfterWrites();
        } else {
            context().close();
        }
    }

    private final class IdleTimer extends Timer {
        @Override
        protected void onExpired() {
            // A header block that has begun is a request: requestHeaders limits it, as in HTTP/1.1.
            boolean requested = hasStreams() || (prefaceSeen && headersTimer.isArmed());
            long idle = requested ? 0 : (timers.nanoTime() - idleSince) / 1_000_000;
            if (idle < settings.timeouts().idleMillis()) {
                watchUnsent();
                timers.arm(this, settings.timeouts().idleMillis() - idle);
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
            observer.onViolation(Http2Violation.SLOW_HEADERS.kind());
            end(Http2Error.ENHANCE_YOUR_CALM, Http2Violation.SLOW_HEADERS.kind());
        }
    }
}
