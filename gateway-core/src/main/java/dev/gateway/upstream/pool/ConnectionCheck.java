package dev.gateway.upstream.pool;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.tls.ClientTls.Alpn;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A health check that only connects to an endpoint, and closes the connection. It counts against no limit, since it is over
 * in a moment, and an endpoint that hangs may have used up all connections. Confined to its event loop.
 */
final class ConnectionCheck implements StreamOpener.Opening, Dial.Callback, ClientStream {
    private static final int OK = 200;

    private final UpstreamContext context;
    private final DialTarget target;
    private final ResponseEvents events;
    private final StreamOpener.Callback callback;
    private final Dial dial;
    private final long begunNanos;
    private boolean answered;
    private @Nullable Channel channel;

    ConnectionCheck(UpstreamContext context, DialTarget target, ResponseEvents events, StreamOpener.Callback callback) {
        this.context = context;
        this.target = target;
        this.events = events;
        this.callback = callback;
        this.begunNanos = context.now();
        // Offers no protocol: only the TLS handshake matters.
        this.dial = new Dial(context, target, Alpn.NONE, null, false, this);
    }

    /** Begins; the turn selects which of several addresses is tried first. */
    void start(int turn) {
        dial.start(turn);
    }

    @Override
    public void onDialed(Channel established, @Nullable String protocol) {
        answered = true;
        channel = established;
        boolean secure = context.shared.isSecured();
        context.shared.upstream.health().onReached(target.endpoint());
        context.observer.onOpened(HttpVersion.TCP, secure);
        established
                .closeFuture()
                .addListener(closed -> context.observer.onClosed(HttpVersion.TCP, secure, CloseCause.HEALTH_CHECK));
        callback.onDialed(context.now() - begunNanos);
        callback.onOpened(
                this, target.peer(established, context.settings.dialSettings().addresses()));
    }

    @Override
    public void onDialFailed(Failure failure) {
        if (answered) {
            return;
        }
        answered = true;
        if (failure.cause() != Cause.OVERLOAD) { // a shortage of the gateway, no failure of the endpoint
            context.shared.upstream.health().onUnreached(target.endpoint(), failure.cause());
        }
        context.observer.onConnectFailed(failure.cause());
        callback.onOpenFailed(failure);
    }

    @Override
    public Account account() {
        return Account.UNLIMITED;
    }

    @Override
    public boolean isClosed() {
        return false; // the check cancels it if needed
    }

    @Override
    public void cancel() {
        if (!answered) {
            answered = true;
            dial.cancel();
        }
    }

    // The stream: it answers its head by itself

    @Override
    public void head(RequestHead head, boolean last) {
        close();
        events.onHead(new ResponseHead(OK, null, Fields.none(), RequestHead.UNKNOWN_LENGTH), true);
    }

    @Override
    public void reset(Failure failure) {
        close();
    }

    private void close() {
        if (channel != null) {
            channel.close(); // not a reset, which servers log
        }
    }

    @Override
    public void data(ByteBuf data, boolean last) {
        data.release();
    }

    @Override
    public void trailers(Fields trailers) {}

    @Override
    public void flush() {}

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void consumed(int bytes) {}
}
