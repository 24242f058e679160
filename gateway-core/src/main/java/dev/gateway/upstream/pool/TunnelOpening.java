package dev.gateway.upstream.pool;

import dev.gateway.net.tls.ClientTls.Alpn;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.tcp.TcpClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** A tunnel's connection, from its request to its end. Confined to the event loop of its {@link Tunnels}. */
final class TunnelOpening extends WaitQueue.Entry<TunnelOpening> implements StreamOpener.Opening, Dial.Callback {
    final StreamOpener.Callback callback;
    final ConnectionWait connectionWait;

    /** Its target; may change while it waits. */
    DialTarget target;

    private final UpstreamContext context;
    private Tunnels owner; // those to the same endpoint; changes if the target does
    private final ResponseEvents events;

    private long dialedNanos; // when its dial began
    private boolean answered;
    private boolean late; // its dial has already counted as a failure of the endpoint
    private @Nullable ClientPreamble preamble; // like the dial, null once the connection is established
    private @Nullable Dial dial;
    private @Nullable TcpClientStream stream;

    TunnelOpening(
            UpstreamContext context,
            Tunnels owner,
            DialTarget target,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        super(callback.client());
        this.context = context;
        this.owner = owner;
        this.target = target;
        this.preamble = preamble;
        this.events = events;
        this.callback = callback;
        this.connectionWait = new ConnectionWait(context.now()) {
            @Override
            protected void onExpired() {
                TunnelOpening.this.owner.onWaited(TunnelOpening.this);
            }

            @Override
            protected void onPlaceLost() {
                TunnelOpening.this.owner.onPlaceLost(TunnelOpening.this);
            }
        };
    }

    /** Changes its target from the endpoint that it has waited for, or dialed so far, to another one. */
    void moveTo(Tunnels other, DialTarget there) {
        if (dial != null) {
            dial.cancel();
        }
        late = false;
        owner = other;
        target = there;
        callback.onMoved(there.endpoint());
    }

    /** Connects; it has a permit. The turn selects which of several addresses is tried first. */
    void dial(int turn) {
        dialedNanos = context.now();
        dial = new Dial(context, target, Alpn.NONE, preamble, true, this);
        dial.start(turn);
    }

    /** Its dial takes long; returns false if it has already counted as a failure of the endpoint. */
    boolean onLate() {
        boolean first = !late;
        late = true;
        return first;
    }

    @Override
    public void onDialed(Channel established, @Nullable String protocol) {
        owner.onDialed(this, established);
        TcpClientStream opened =
                TcpClientStream.over(established, owner::onOver, events, context.observer, context.resources.wheel);
        stream = opened;
        dial = null;
        preamble = null;
        answered = true;
        callback.onDialed(context.now() - dialedNanos);
        callback.onOpened(
                opened, target.peer(established, context.settings.dialSettings().addresses()));
    }

    @Override
    public Account account() {
        return callback.account();
    }

    @Override
    public boolean isClosed() {
        return owner.isClosed();
    }

    @Override
    public void onDialFailed(Failure failure) {
        if (!answered) {
            owner.onDialFailed(this, failure);
        }
    }

    /** Fails the opening. */
    void fail(Failure failure) {
        answered = true;
        if (dial != null) {
            dial.cancel();
        }
        callback.onOpenFailed(failure);
    }

    @Override
    public void cancel() {
        if (!answered) {
            answered = true;
            if (dial != null) {
                dial.cancel();
            }
            owner.onCancelled(this);
        }
    }

    /** Closes the connection at once; its user gets the reason. */
    void end(Failure failure) {
        if (stream != null) {
            stream.end(failure);
        }
    }
}
