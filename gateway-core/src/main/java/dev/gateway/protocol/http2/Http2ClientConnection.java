package dev.gateway.protocol.http2;

import dev.gateway.net.HalfClose;
import dev.gateway.net.PeerAcks;
import dev.gateway.net.PendingWrites;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An upstream connection of HTTP/2 (RFC 9113), shared by many requests. The pool puts it last into the pipeline of an
 * active channel, after ALPN or with prior knowledge; it sends the preface at once. It may be used once {@link
 * Listener#onReady} was called. All on the channel's event loop.
 */
public final class Http2ClientConnection extends MultiplexedConnection {
    /** Gets notified of what the connection can be used for. Calls may come from within calls to the connection. */
    public interface Listener {
        /** The upstream's SETTINGS have arrived; {@link #availableStreams} is what it allows. Called once. */
        void onReady();

        /** A stream has closed, or the upstream has changed how many it allows. */
        void onCapacityChanged();

        /**
         * The upstream takes requests by HTTP/1.1 only, maybe not all of them (HTTP_1_1_REQUIRED). {@link #onGoingAway} follows
         * if this returns true.
         *
         * @return whether another connection will speak that
         */
        default boolean onHttp1Required() {
            return false;
        }

        /**
         * The upstream has answered the preface in another protocol, and nothing else will be called but {@link #onClosed}.
         *
         * @param detail which one, and what may help
         */
        default void onOtherProtocol(String detail) {}

        /**
         * The upstream does not answer, not even a PING; told once for each silence. {@link #onGoingAway} follows, then streams
         * that are open are told.
         *
         * @param why what was found
         * @param seconds how long it has not answered the PING
         */
        default void onSilent(String why, int seconds) {}

        /** Whether another connection may be made for new streams, while this one keeps those that it has. */
        default boolean isReplaceable() {
            return true;
        }

        /**
         * The connection takes no new streams any more; those it has may finish. Called once at most.
         *
         * @param cause {@link CloseCause#REQUEST} if too many requests were given up, else {@link CloseCause#ENDPOINT}
         */
        void onGoingAway(CloseCause cause);

        /** The channel has closed; called once, after all its streams have failed, also if it was never ready. */
        void onClosed();
    }

    /**
     * So many bytes of requests may wait for an upstream that takes nothing. Those that follow try another connection, or wait
     * for one.
     */
    private static final int MAX_WAITING = 256 * 1024;

    private final Listener listener;
    private final SilenceProbe probe = new Probe();
    private final ClientStreams requests;
    private final UnfinishedAnswer unfinished;
    private boolean ready;
    private boolean goingAway;
    private boolean blocked; // by what waits for the upstream

    private Http2ClientConnection(Listener listener, Http2ClientSettings settings, Codec codec) {
        super(
                codec,
                settings.connectionWindow(),
                Http2ClientSettings.WINDOW_GROWTH,
                Account.UNLIMITED,
                codec.connection(), // which no other connection has
                settings.requestWriteIdleMillis());
        this.listener = listener;
        this.requests = new ClientStreams(this, settings, codec, shared(), probe);
        this.unfinished = new UnfinishedAnswer(this, codec.reader(), shared().streams());
    }

    /** Makes the handler of one connection. */
    public static Http2ClientConnection create(
            Listener listener, ConnectionObserver observer, TimerWheel timers, Http2ClientSettings settings) {
        Codec codec = Codec.of(
                false, settings.wire(), settings.maxConcurrentStreams(), settings.maxHeaderFields(), observer, timers);
        return new Http2ClientConnection(listener, settings, codec);
    }

    /** Returns how many more streams may be opened now. */
    public int availableStreams() {
        if (!ready || goingAway || !isOpen()) {
            return 0;
        }
        blocked = !sender().takesMore() && codec.writer().replies() > MAX_WAITING;
        return blocked ? 0 : requests.available();
    }

    /** Whether the upstream takes extended CONNECT (RFC 8441), so that a stream may become a tunnel of its protocol. */
    public boolean allowsExtendedConnect() {
        return requests.allowsExtendedConnect();
    }

    /** Returns how many streams are open. */
    public int activeStreams() {
        return requests.active();
    }

    /**
     * Opens a stream; {@link #availableStreams} must not be 0. Its number is taken when the head is sent, so it counts
     * until then as well, and must be reset if no head is to be sent.
     *
     * @param events gets what the upstream sends
     */
    public ClientStream open(ResponseEvents events) {
        return requests.open(events);
    }

    /** Takes no new streams, and closes when those it has are done. */
    public void drain() {
        goAwayOnce();
        closeIfDone();
    }

    /** Tells all streams that the endpoint does not answer, and how that was found. */
    public void tellUnresponsive(String why) {
        requests.tellUnresponsive(why);
    }

    /** Closes at once; streams fail. */
    public void close() {
        context().close();
    }

    /** Closes at once; streams get the failure. */
    public void end(Failure failure) {
        requests.end(failure);
        context().close();
    }

    private void goAwayOnce() {
        goAwayOnce(CloseCause.ENDPOINT);
    }

    private void goAwayOnce(CloseCause cause) {
        if (!goingAway) {
            goingAway = true;
            listener.onGoingAway(cause);
        }
    }

    private void closeIfDone() {
        if (goingAway && !requests.areWanted() && isOpen()) {
            ChannelHandlerContext ctx = context();
            goAway(ctx, 0, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
            closeAfterWrites();
        }
    }

    // What its streams tell.

    /** It takes no new streams any more. */
    void onExhausted() {
        goAwayOnce();
    }

    /** A stream was given up. If none is left, requests that wait for an upstream that takes nothing are of no use. */
    void onUnwanted() {
        if ((blocked || goingAway) && !sender().takesMore() && !requests.areWanted()) {
            goAwayOnce();
            if (probe.isSilent()) {
                close();
            } else {
                closeIfDone();
            }
        }
    }

    /** So many streams were reset that the peer may end the connection soon. */
    void onWorn() {
        if (!goingAway && listener.isReplaceable()) {
            goAwayOnce(CloseCause.REQUEST);
        }
    }

    /** There may be room for more streams than before, or none is left that is open. */
    void onCapacityChanged() {
        listener.onCapacityChanged();
        closeIfDone();
    }

    /** Whether an exchange waits for an answer on this connection. */
    boolean isWanted() {
        return requests.areWanted();
    }

    /** Asks by PING whether the upstream is there. What cannot be repeated waits on here. */
    private final class Probe extends SilenceProbe {
        Probe() {
            super(Http2ClientConnection.this.timers);
        }

        @Override
        boolean isOpen() {
            return Http2ClientConnection.this.isOpen();
        }

        @Override
        boolean isAwaited() {
            return requests.areAwaited();
        }

        @Override
        void ping() {
            Http2ClientConnection.this.ping(PING);
        }

        @Override
        boolean isDelivering(long millis) {
            Channel channel = context().channel();
            PeerAcks acks = PeerAcks.read(channel);
            return acks != null && acks.isDelivering(PendingWrites.bytes(channel), millis);
        }

        @Override
        void onSilent(boolean first) {
            if (first) {
                listener.onSilent(FINDING, SILENT_SECONDS);
            }
            goAwayOnce();
            requests.tellUnresponsive(FINDING);
            if (!requests.areWanted()) {
                close();
            }
        }
    }

    // What the upstream does.

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        super.channelWritabilityChanged(ctx);
        if (ctx.channel().isWritable()) {
            requests.onTaken();
            if (blocked) {
                blocked = false;
                onCapacityChanged();
            }
        }
    }

    @Override
    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        probe.onMessage();
        requests.onHeaders(h2, headers, last);
    }

    @Override
    void onOversized(Http2Stream h2) {
        sender().reset(h2, Http2Error.INTERNAL_ERROR);
    }

    /** Acts before the stream fails, so that the request does not come back here at once. */
    @Override
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        requests.onReset(errorCode);
        checkHttp1Required(errorCode, false);
        super.onResetByPeer(stream, errorCode);
    }

    @Override
    void onStreamClosed(@Nullable MultiplexedStream stream) {
        requests.onClosed(stream);
    }

    @Override
    void onSettings(Http2Settings received) {
        requests.onSettings(received);
        if (!ready) {
            ready = true;
            listener.onReady();
        } else {
            listener.onCapacityChanged();
        }
    }

    @Override
    void onPriorityUpdate(PriorityUpdate update) throws Http2Exception {
        // RFC 9218, section 7.1
        throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PRIORITY_UPDATE by a server");
    }

    @Override
    void onGoAway(long errorCode) {
        checkHttp1Required(errorCode, true);
        goAwayOnce();
    }

    private void checkHttp1Required(long errorCode, boolean ofAll) {
        if (errorCode == Http2Error.HTTP_1_1_REQUIRED.code()) {
            boolean other = listener.onHttp1Required();
            requests.onHttp1Required(other, ofAll);
            if (other) {
                goAwayOnce();
            }
        }
    }

    @Override
    void afterRead() {
        unfinished.onRead(internalBuffer());
        if (goingAway) {
            closeIfDone();
        }
    }

    /** Requests that this batch lets us send are sent after it. */
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
        probe.onRead();
        super.channelRead(ctx, msg);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (ready || in.readableBytes() < OtherProtocol.BYTES) {
            super.decode(ctx, in, out);
            return;
        }
        String other = OtherProtocol.of(in);
        if (other == null) {
            super.decode(ctx, in, out);
            return;
        }
        in.skipBytes(in.readableBytes());
        codec.observer().onViolation(Http2Violation.PROTOCOL_ERROR.kind());
        listener.onOtherProtocol(other);
        ctx.close();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        super.handlerAdded(ctx);
        HalfClose.survivesWrites(ctx.channel(), true);
    }

    /** What the upstream sent before it reset the connection may hold answers. */
    @Override
    void onSocketFailed(ChannelHandlerContext ctx, Throwable cause) {
        if (HalfClose.isOutputEnd(ctx.channel(), cause) && activeStreams() > 0) {
            goAwayOnce();
        } else {
            ctx.close();
        }
    }

    @Override
    void onActive() {}

    @Override
    void onInactive() {
        unfinished.release();
        probe.cancel();
        requests.cancel();
        goAwayOnce();
        listener.onClosed();
    }
}
