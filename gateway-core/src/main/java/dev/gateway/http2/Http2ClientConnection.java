package dev.gateway.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.net.HalfClose;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
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
 * An upstream connection of HTTP/2 (RFC 9113), shared by many requests. The pool puts it last into the pipeline of an
 * active channel, after ALPN or with prior knowledge; it sends the preface at once. It may be used once {@link
 * Listener#onReady} was called. All on the channel's event loop.
 */
public final class Http2ClientConnection extends MultiplexedConnection {
    /** Who keeps the connection is told what it can be used for. Calls may come from within calls to it. */
    public interface Listener {
        /** The upstream's SETTINGS have arrived; {@link #availableStreams} is what it allows. Called once. */
        void onReady();

        /** A stream has closed, or the upstream has changed how many it allows. */
        void onCapacityChanged();

        /** The connection takes no new streams any more; those it has may finish. Called once at most. */
        void onGoingAway();

        /** The channel has closed; called once, after all its streams have failed, also if it was never ready. */
        void onClosed();
    }

    private static final long SILENCE_MILLIS = 5_000;
    private static final long PROBE = 0x7072_6f62_6500_0001L;

    private final Listener listener;
    private final Http2ClientSettings settings;
    private boolean ready;
    private boolean extendedConnect;
    private boolean goingAway;
    private boolean retiring;
    private final StreamLimit limit;
    private int covered; // so many streams have twice their windows in the connection's
    private int reserved; // streams opened whose head was not sent yet
    private int served; // streams that ended
    private int batches; // of frames read; may wrap round
    private @Nullable Failure ended;
    private final Probe probe = new Probe();

    private Http2ClientConnection(Listener listener, Http2ClientSettings settings, Codec codec) {
        super(codec, settings.connectionWindow(), Http2ClientSettings.WINDOW_GROWTH);
        this.listener = listener;
        this.settings = settings;
        this.limit = new StreamLimit(settings.assumedStreams(), codec.timers(), this::capacityChanged);
        this.covered = settings.assumedStreams();
        codec.connection().local().allowPushTo(false);
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
        return Math.max(0, limit.current() - connection().local().numActiveStreams() - reserved);
    }

    /** Whether the upstream takes extended CONNECT (RFC 8441), so that a stream may become a tunnel of its protocol. */
    public boolean allowsExtendedConnect() {
        return extendedConnect;
    }

    /** Returns how many streams are open. */
    public int activeStreams() {
        return connection().local().numActiveStreams() + reserved;
    }

    /**
     * Opens a stream; {@link #availableStreams} must not be 0. Its number is taken when the head is sent, so it counts
     * until then as well, and must be reset if no head is to be sent.
     *
     * @param events who is told what the upstream does
     */
    public ClientStream open(ResponseEvents events) {
        reserved++;
        return new Http2ClientStream(this, events);
    }

    /** Takes no new streams, and closes when those it has are done. */
    public void drain() {
        retiring = true;
        goAwayOnce();
        closeIfDone();
    }

    /** Closes at once; streams fail. */
    public void close() {
        context().close();
    }

    /** Closes at once; streams fail, and are told why. */
    public void end(Failure failure) {
        ended = failure;
        context().close();
    }

    /** Returns why the connection was ended, or null if it was not. */
    @Nullable
    Failure ended() {
        return ended;
    }

    private void goAwayOnce() {
        if (!goingAway) {
            goingAway = true;
            listener.onGoingAway();
        }
    }

    private void closeIfDone() {
        if ((retiring || goingAway) && activeStreams() == 0 && isOpen()) {
            ChannelHandlerContext ctx = context();
            goAway(ctx, 0, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
            closeAfterWrites();
        }
    }

    boolean hasServed() {
        return served > 0;
    }

    /** Whether the upstream said by GOAWAY that it has not acted on this stream and never will. */
    boolean isUnprocessed(@Nullable Http2Stream h2) {
        return h2 != null
                && connection().goAwayReceived()
                && h2.id() > connection().local().lastStreamKnownByPeer();
    }

    void released() {
        reserved--;
        capacityChanged();
    }

    void capacityChanged() {
        if (isOpen()) {
            listener.onCapacityChanged();
            closeIfDone();
        }
    }

    /** Gives the stream its number and sends its head; returns false if the connection takes no stream any more. */
    boolean send(Http2ClientStream stream, RequestHead head, boolean last) {
        reserved--;
        if (!isOpen()) {
            return false;
        }
        int id = connection().local().incrementAndGetNextStreamId();
        Http2Stream h2;
        try {
            h2 = connection().local().createStream(id, false);
        } catch (Http2Exception e) {
            // Out of numbers, or the upstream went away or takes fewer streams since the stream was opened.
            if (id < 0 || connection().goAwayReceived()) {
                goAwayOnce();
            }
            return false;
        }
        guard().onStreamOpened();
        stream.attach(h2);
        sent.request(head);
        writeHeaders(h2, false, last);
        return true;
    }

    @Override
    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        if (stream(h2) instanceof Http2ClientStream stream) {
            if (stream.hasResponse()) {
                windows().ended(h2);
                String problem = headers.hasPseudo() ? "a pseudo-header field in trailers" : headers.problem();
                if (problem != null || headers.isTooMany()) {
                    throw streamError(stream, problem != null ? problem : "too many trailer fields");
                }
                stream.onTrailers(headers.fields());
            } else {
                String problem = HeadMapper.responseProblem(headers, last);
                if (problem != null || headers.isTooMany()) {
                    throw streamError(stream, problem != null ? problem : "too many header fields");
                }
                stream.onHead(HeadMapper.response(headers), last);
            }
        }
    }

    @Override
    void onOversized(Http2Stream h2) {
        resetStream(h2, Http2Error.INTERNAL_ERROR);
    }

    @Override
    void onLocalHalfClosed(MultiplexedStream stream) {}

    /** Before the stream is told, so that the request does not come back here at once. */
    @Override
    void onResetByPeer(MultiplexedStream stream, long errorCode) throws Http2Exception {
        if (errorCode == Http2Error.REFUSED_STREAM.code()) {
            limit.onRefused(connection().local().numActiveStreams() - 1);
        }
        super.onResetByPeer(stream, errorCode);
    }

    @Override
    void onStreamClosed(@Nullable MultiplexedStream stream) {
        served++;
        if (stream instanceof Http2ClientStream client && client.hasResponse()) {
            limit.onAnswered();
        }
        capacityChanged();
    }

    @Override
    void onSettings(Http2Settings received) {
        extendedConnect |= Boolean.TRUE.equals(received.connectProtocolEnabled());
        Long streams = received.maxConcurrentStreams();
        if (streams != null) {
            int most = (int) Math.min(streams, settings.maxConcurrentStreams());
            limit.onSaid(most);
            cover(most);
        }
        if (!ready) {
            ready = true;
            listener.onReady();
        } else {
            listener.onCapacityChanged();
        }
    }

    /** Slow clients shall not stop others, however many share the connection. */
    private void cover(int streams) {
        if (streams > covered) {
            long more = 2L * settings.streamWindow() * (streams - covered);
            windows().addForAll((int) Math.min(Integer.MAX_VALUE, more));
            covered = streams;
        }
    }

    @Override
    void onPriorityUpdate(PriorityUpdate update) throws Http2Exception {
        // RFC 9218, section 7.1
        throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PRIORITY_UPDATE by a server");
    }

    @Override
    void onGoAway(int lastStreamId, long errorCode) {
        goAwayOnce();
    }

    int batches() {
        return batches;
    }

    /**
     * A request was given up without a byte having come on the connection since it was sent. An upstream that has
     * vanished without a FIN would take all requests that follow too, until TCP gives up after a quarter of an hour.
     */
    void suspect() {
        if (!probe.isArmed() && isOpen()) {
            probe.pinged = false;
            probe.batchesBefore = batches;
            timers.arm(probe, SILENCE_MILLIS);
        }
    }

    /** Asks a silent upstream by PING whether it is there, and closes the connection if nothing comes at all. */
    private final class Probe extends Timer {
        private boolean pinged;
        private int batchesBefore;

        @Override
        protected void onExpired() {
            if (batches != batchesBefore || !isOpen()) {
                return;
            }
            if (pinged) {
                goAwayOnce();
                context().close();
            } else {
                pinged = true;
                ping(PROBE);
                timers.arm(this, SILENCE_MILLIS);
            }
        }
    }

    @Override
    void afterRead() {
        batches++;
        if (goingAway) {
            closeIfDone();
        }
    }

    @Override
    long writeIdleMillis() {
        return settings.requestWriteIdleMillis();
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
        probe.cancel();
        limit.cancel();
        goAwayOnce();
        listener.onClosed();
    }
}
