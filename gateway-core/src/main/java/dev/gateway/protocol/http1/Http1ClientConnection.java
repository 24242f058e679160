package dev.gateway.protocol.http1;

import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.HalfClose;
import dev.gateway.net.PendingWrites;
import dev.gateway.protocol.http1.ResponseInput.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * An upstream HTTP/1 connection: one exchange at a time, kept in between by its creator, which is its {@link
 * Listener}. The last handler of its channel, confined to its event loop.
 */
public final class Http1ClientConnection extends Http1Connection {
    private final Listener listener;
    private final Http1ClientSettings settings;
    private final ChannelFutureListener headSent = this::onHeadSent;
    private final ChannelFutureListener taken = sent -> onTaken();

    @SuppressWarnings("NullAway.Init")
    private ResponseInput input; // set when the handler is added, before anything else happens

    private @Nullable Http1ClientStream stream; // the exchange that has not ended in both directions
    private boolean kept; // idle for a while, so that the peer may be closing it when it is used
    private boolean requestReceived; // the head was handed to the kernel, so the peer may have acted on it
    private boolean dirty; // written and not flushed
    private boolean lingers; // the exchange is to be told when the upstream has taken what waits
    private int activity; // what was read or written; may wrap round
    private boolean outputEnded; // a write has failed
    private boolean secured; // by TLS, whose close_notify may follow what is being read
    private boolean reading;
    private boolean reusable; // once all that was read has been gone through
    private CloseCause closeCause = CloseCause.ENDPOINT; // if it closes now

    /** Makes the handler of an established connection, to be added to its channel. */
    public Http1ClientConnection(
            Listener listener, ConnectionObserver observer, TimerWheel timers, Http1ClientSettings settings) {
        super(observer, timers);
        this.listener = listener;
        this.settings = settings;
    }

    /** Who keeps the connection. */
    public interface Listener {
        /**
         * The exchange has ended and the connection takes another; it may be opened before this returns.
         *
         * @param keepAliveMillis how long the peer says it keeps the connection (RFC 2068, section 19.7.1), -1 if it
         *     does not
         */
        void onReusable(Http1ClientConnection connection, long keepAliveMillis);

        /** Whether a connection on which a client has logged in may be reused: only that client will use it. */
        default boolean keepsLogin() {
            return false;
        }

        /** The connection has closed or is about to; called once, whether or not an exchange was in progress. */
        void onClosed(Http1ClientConnection connection);

        /**
         * Once closed, it turns out that the peer most likely did not want to keep it any longer. Comes before the exchange
         * is told.
         */
        void onStale(Http1ClientConnection connection);
    }

    /**
     * Opens a stream. To be called when the connection is new, or has been reported reusable.
     *
     * @throws IllegalStateException if an exchange is in progress or the connection is closed
     */
    public ClientStream open(ResponseEvents events) {
        if (!isIdle()) {
            throw new IllegalStateException("not idle: " + input.state());
        }
        Http1ClientStream open = new Http1ClientStream(this, events);
        stream = open;
        requestReceived = false;
        input.expect();
        return open;
    }

    /** Nobody has a request for it at present. */
    public void keep() {
        kept = true;
    }

    /** Whether a client logs in, or has logged in, on the connection: only that client may use it. */
    public boolean isBound() {
        return input.isBound();
    }

    /** Whether {@link #open} may be called. */
    public boolean isIdle() {
        return input.state() == State.IDLE && ctx.channel().isActive();
    }

    /** Whether a request was sent that has no answer yet, not even the head of one. */
    public boolean isAwaited() {
        return stream != null && requestReceived && input.state() == State.HEAD;
    }

    /** Returns a number that changes with whatever is read or written. */
    public int activity() {
        return activity;
    }

    /** Returns why the connection has closed, as far as that was not up to the listener. */
    public CloseCause closeCause() {
        return closeCause;
    }

    /** Tells the exchange in progress that the endpoint does not answer, and how that was found. */
    public void tellUnresponsive(String why) {
        if (stream != null) {
            stream.events().onUnresponsive(why);
        }
    }

    /** Closes the connection at once; an exchange in progress fails, as the upstream is lost. */
    public void close() {
        ctx.close();
    }

    /** Closes the connection at once; an exchange in progress gets the failure. */
    public void end(Failure failure) {
        if (stream == null) {
            shut();
        } else {
            fail(stream, failure);
        }
    }

    // ---- the channel's life ----

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        super.handlerAdded(ctx);
        input = new ResponseInput(this, settings, credit);
        HalfClose.survivesWrites(ctx.channel(), true);
        secured = HalfClose.isSecured(ctx.channel());
    }

    @Override
    boolean outlivesOutput() {
        outputEnded = true; // the sender waits for room, until the answer so far was read
        return stream != null;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        endInput(); // a transport without half-closure has not said so before
        lost("the upstream closed the connection");
    }

    @Override
    boolean isOpen() {
        return input.state() != State.CLOSED;
    }

    @Override
    void onFailed() {
        lost("the connection to the upstream failed");
    }

    @Override
    void onInputEnded() {
        Http1ClientStream open = stream;
        // What TLS secures has no end but by close_notify (RFC 9112, section 9.8).
        // After a write has failed, a reset looks as a FIN does.
        if (open != null && input.endsWithConnection() && !outputEnded && !HalfClose.isCutShort(ctx.channel())) {
            input.handOnTo(open);
            endResponse(open);
            open.events().onData(Unpooled.EMPTY_BUFFER, true);
            onBatchEnd();
        } else if (input.state() != State.DONE && input.state() != State.SWITCHING) { // its tunnel begins half-closed
            lost("the upstream closed the connection");
        }
    }

    /** The connection has ended, whatever was in progress. */
    private void lost(String detail) {
        Http1ClientStream open = stream;
        State before = input.state();
        boolean unsent = !requestReceived;
        shut();
        if (open == null || before == State.DONE) {
            return;
        }
        if (before == State.BODY) {
            open.events().onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, detail));
            return;
        }
        RetrySafety retry = unsent ? RetrySafety.ALWAYS : RetrySafety.IF_IDEMPOTENT;
        Cause cause = Cause.UPSTREAM_RESET_BEFORE_HEADERS;
        boolean stale =
                kept && (unsent || !input.isBegun()); // an upstream that began to answer has accepted the request
        if (stale) {
            listener.onStale(this);
        }
        open.events().onReset(new Failure(cause, cause.status(), retry, stale, detail));
    }

    /** Closes the channel and leaves the exchange and the listener, without an event. */
    private void shut() {
        Http1ClientStream open = stream;
        stream = null;
        if (open != null) {
            open.end();
        }
        if (input.state() != State.CLOSED) {
            input.close();
            listener.onClosed(this);
        }
        batch.clear();
        ctx.close();
    }

    /** The exchange cannot continue. */
    void fail(Http1ClientStream from, Failure failure) {
        if (from == stream) {
            boolean told = input.state() != State.DONE;
            closeCause = CloseCause.REQUEST;
            shut();
            if (told) {
                from.events().onReset(failure);
            }
        }
    }

    // ---- input ----

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        reading = true;
        activity++;
        input.read((ByteBuf) message);
    }

    private void endResponse(Http1ClientStream open) {
        if (open.isEnded()) {
            endExchange();
        } else {
            input.awaitRequest(); // the core either completes the request or resets it
        }
    }

    private void endExchange() {
        credit.reset();
        boolean othersLogin = input.isBound() && !listener.keepsLogin();
        if (!input.isPersistent() || othersLogin || isInputEnding() || outputEnded) {
            shut();
            return;
        }
        stream = null;
        input.idle();
        kept = true;
        if (secured && reading) {
            reusable = true; // unless close_notify has come with the response
        } else {
            listener.onReusable(this, input.keepAliveMillis());
        }
    }

    /** Returns the exchange in progress. */
    @Nullable
    Http1ClientStream stream() {
        return stream;
    }

    /** Whether the peer may have acted on the request. */
    boolean isRequestReceived() {
        return requestReceived;
    }

    /** Bytes came before the request was sent: the peer is about to close, most likely. */
    void onEarlyResponse() {
        observer.onViolation(Http1Violation.UNSOLICITED_RESPONSE.kind());
        lost("bytes came before the request was sent");
    }

    /** The peer has broken the rules. */
    void onViolation(Http1Violation violation) {
        observer.onViolation(violation.kind());
        Http1ClientStream open = stream;
        if (open == null) {
            shut();
        } else {
            fail(open, violation.upstream());
        }
    }

    /** The response's head opens a tunnel; the rest of the buffer belongs to it, and is owned by this. */
    void becomeTunnel(Http1ClientStream open, ResponseHead head, ByteBuf in) {
        stream = null;
        input.takeHandedOnTo(); // the tunnel flushes for itself
        closeCause = CloseCause.TUNNEL;
        input.close();
        Runnable onClosed = () -> listener.onClosed(this);
        ByteStreamHalf tunnel = replaceBy(ByteStreamHalf.ofUpstream(onClosed, open.events(), observer, timers), open);
        open.events().onHead(head, false);
        open.sendEarly(tunnel);
        tunnel.begin(in, isInputEnded());
    }

    /**
     * The response has ended. Comes before its last part is handed on, so that what the core does next can use this
     * connection already, unless it is known that the peer closes it.
     *
     * @param more whether more bytes were read than belong to it
     */
    void onResponseEnd(Http1ClientStream open, boolean more) {
        if (more) {
            observer.onViolation(Http1Violation.UNSOLICITED_RESPONSE.kind());
            input.endPersistence();
        }
        endResponse(open);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        onBatchEnd();
        if (reusable) {
            reusable = false;
            if (isIdle()) {
                listener.onReusable(this, input.keepAliveMillis());
            }
        }
    }

    private void onBatchEnd() {
        ResponseEvents events = input.takeHandedOnTo();
        if (events != null) {
            events.onReadComplete();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        Http1ClientStream open = stream;
        if (open != null && ctx.channel().isWritable()) {
            open.events().onWritable(); // also after the request's last part, for which credit may still be owed
        }
    }

    // ---- output, called by the stream ----

    /** Writes a head, to be flushed later. */
    void writeHead(RequestHead head, Framing framing, long length) {
        ByteBuf bytes = HeadWriter.request(ctx.alloc(), head, framing, length, settings.proxy());
        dirty = true;
        activity++;
        batch.emit(ctx);
        ctx.write(bytes).addListener(headSent);
    }

    private void onHeadSent(ChannelFuture future) {
        if (future.isSuccess()) {
            requestReceived = true;
        } else {
            lost("the request could not be sent");
        }
    }

    @Override
    void wrote(int bytes) {
        dirty = true;
        activity++;
        if (!ctx.channel().isWritable()) {
            flush();
        }
    }

    @Override
    void flush() {
        if (dirty) {
            dirty = false;
            batch.emit(ctx);
            ctx.flush();
        }
    }

    @Override
    long lingering() {
        if (PendingWrites.bytes(ctx.channel()) <= PendingWrites.SLIGHT) {
            return 0;
        }
        if (!lingers) {
            lingers = true;
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(taken);
        }
        return lingers ? PendingWrites.memory(ctx.channel()) : 0; // the flush may have sent all
    }

    @Override
    boolean copies() {
        return secured;
    }

    private void onTaken() {
        lingers = false;
        if (stream != null && ctx.channel().isWritable()) {
            stream.events().onWritable();
        }
    }

    @Override
    void onSent(OutgoingStream<?> from) {
        Http1ClientStream open = stream;
        if (open == null || from != open) {
            return;
        }
        if (input.state() == State.DONE) {
            endExchange();
        } else if (input.state() == State.SWITCHING) {
            flush(); // the end of the request, before anything of the tunnel
            input.onRequestEnded(open);
        }
    }

    @Override
    void consumed(OutgoingStream<?> from, int bytes) {
        if (from == stream) {
            credit.consumed(bytes);
        }
    }

    @Override
    void reset(OutgoingStream<?> from) {
        if (from == stream) {
            closeCause = CloseCause.REQUEST;
            shut();
        }
    }
}
