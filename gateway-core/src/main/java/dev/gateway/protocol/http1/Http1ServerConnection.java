package dev.gateway.protocol.http1;

import dev.gateway.message.ResponseHead;
import dev.gateway.net.Drainable;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * A downstream HTTP/1 connection: one request at a time becomes a {@link Http1ServerStream}; what a client pipelines
 * waits, unread beyond a bound. Made by the listener, the last handler of its channel, confined to its event loop. This
 * class is the channel's handler and the carrier of the streams, and leaves the rest to its parts.
 *
 * <p>A client error or timeout in a request body is reported by {@code onReset}; if no response has begun, the core may
 * still answer before it returns from there.
 */
public final class Http1ServerConnection extends Http1Connection implements Drainable {
    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final Http1ServerSettings settings;
    private final @Nullable Upgrade h2c;
    private final ClientFin fin;
    private final ServerTunnel tunnel = new ServerTunnel();
    private final LoginPins logins = new LoginPins();

    // All of these are set when the handler is added, before anything else happens.

    @SuppressWarnings("NullAway.Init")
    private ServerRequests requests;

    @SuppressWarnings("NullAway.Init")
    private ServerResponses responses;

    @SuppressWarnings("NullAway.Init")
    private RequestInput input;

    @SuppressWarnings("NullAway.Init")
    private ServerOutput output;

    /**
     * Makes the handler of a connection that speaks HTTP/1, to be added to its channel, which is open by then.
     *
     * @param h2c takes the connection over if its client asks for {@code h2c}, null if nobody does
     */
    public Http1ServerConnection(
            ConnectionInfo info,
            RequestHandler handler,
            ConnectionObserver observer,
            TimerWheel timers,
            Http1ServerSettings settings,
            @Nullable Upgrade h2c) {
        super(observer, timers);
        this.info = info;
        this.handler = handler;
        this.settings = settings;
        this.h2c = h2c;
        this.fin = new ClientFin(settings.halfClose());
    }

    ConnectionInfo info() {
        return info;
    }

    /** Returns the upstream connections on which the client logs in. */
    LoginPins logins() {
        return logins;
    }

    /** What waits of this response and those that follow counts for the account of a client. */
    void countFor(Account client) {
        output.countFor(client);
    }

    /** Returns when the first bytes of the last head were there, 0 if all of it came at once. */
    long headNanos() {
        return input.headNanos();
    }

    // ---- the channel's life

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        super.handlerAdded(ctx);
        requests = new ServerRequests(this, handler, settings, h2c, fin, tunnel);
        responses = requests.responses;
        input = requests.input;
        output = responses.output;
        requests.begin();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        responses.closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection"));
        logins.end();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        responses.closed(Failure.of(Cause.CLIENT_CLOSED, "the connection was taken over"));
        logins.end();
    }

    @Override
    boolean isOpen() {
        return input.isOpen();
    }

    @Override
    void onFailed() {
        output.close();
    }

    @Override
    void onInputEnded() {
        responses.onInputEnded();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        fin.onRead();
        input.add(ctx.alloc(), (ByteBuf) message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        input.onReadComplete();
        responses.onBatchEnd();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            responses.onWritable();
        }
    }

    // ---- what the stream does

    /** Writes a head, to be flushed later. */
    void writeHead(ResponseHead head, Framing framing, long length, HeadWriter.Persistence persistence) {
        output.head(head, framing, length, persistence);
    }

    @Override
    void wrote(int bytes) {
        output.wrote(bytes);
    }

    /** Also for a stream that has ended: what it wrote last may be waiting. */
    @Override
    void flush() {
        if (!input.isReading() && !input.isProcessing()) {
            output.flush();
        }
    }

    @Override
    long unsent() {
        return output.unsent();
    }

    /** The client was told to send its body: from now on it is the client that is waited for. */
    void onContinueSent() {
        requests.onContinueSent();
    }

    @Override
    void consumed(OutgoingStream<?> from, int bytes) {
        if (responses.isCurrent(from)) {
            credit.consumed(bytes);
        }
    }

    /**
     * Whether the connection can take another request after a response that is about to begin.
     *
     * @param bodiless whether the response has no body, so that it ends at once
     */
    boolean mayPersist(int status, boolean bodiless) {
        return responses.mayPersist(status, bodiless);
    }

    @Override
    void reset(OutgoingStream<?> from) {
        responses.cut(from);
    }

    /** The head that opens a tunnel was written. */
    void becomeTunnel(Http1ServerStream open) {
        responses.becomeTunnel(open);
    }

    @Override
    void onSent(OutgoingStream<?> sent) {
        responses.onSent(sent);
    }

    /** The response that begins next says that the connection ends; returns whether that is new. */
    boolean tellClose() {
        return responses.close.announcement.closeAfterResponse();
    }

    /** The response that is about to end is a refusal after which the client is to be left alone. */
    void delayAfter(Http1ServerStream refused, ServerStream.Pause pause) {
        responses.delayAfter(refused, pause);
    }

    // ---- ending from our side

    @Override
    public void announceClose() {
        responses.close.announcement.closeAfterResponse();
    }

    @Override
    public void drain() {
        responses.drain();
    }

    @Override
    public boolean isIdle() {
        return input.isIdle();
    }

    @Override
    public boolean hasServed() {
        return !input.isFirst();
    }

    @Override
    public boolean isRefused() {
        return responses.isRefused();
    }

    @Override
    public void end(Failure failure) {
        if (tunnel.exists()) {
            if (!tunnel.end(failure)) {
                ctx.channel().close(); // also if it had ended before, and what it wrote has not left yet
            }
        } else if (!requests.end(failure)) {
            ctx.close();
        }
    }
}
