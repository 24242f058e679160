package dev.gateway.pool;

import dev.gateway.net.tls.ClientTls.Alpn;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.tcp.TcpClientStream;
import dev.gateway.time.Timer;
import dev.gateway.upstream.ClientPreamble;
import dev.gateway.upstream.StreamOpener;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** A tunnel's connection, from the request for one to its end. Confined to the event loop of its {@link Tunnels}. */
final class TunnelOpening implements StreamOpener.Opening, Dial.Callback, TcpClientStream.Listener {
    final StreamOpener.Callback callback;
    final long sinceNanos;

    /** Where it goes, as far as is known while it waits. */
    DialTarget way;

    private Tunnels tunnels;
    private final ResponseEvents events;

    /** Whether it counts against the limit of pending requests. */
    boolean counted;

    private long dialedNanos; // when its dial began
    private boolean answered;
    private @Nullable ClientPreamble preamble; // until there is a connection, as is the dial
    private @Nullable Dial dial;
    private @Nullable TcpClientStream stream;

    /** Limits the wait for a permit. */
    final Timer waitTimer = new Timer() {
        @Override
        protected void onExpired() {
            tunnels.onWaitedTooLong(TunnelOpening.this);
        }
    };

    TunnelOpening(
            Tunnels tunnels,
            DialTarget way,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        this.tunnels = tunnels;
        this.way = way;
        this.preamble = preamble;
        this.events = events;
        this.callback = callback;
        this.sinceNanos = tunnels.now();
    }

    /** Goes to another endpoint than it has waited for. */
    void moveTo(Tunnels other, DialTarget there) {
        tunnels = other;
        way = there;
        callback.onMoved(there.endpoint());
    }

    /** Has the permit that it takes; the turn says which of several addresses is tried first. */
    void dial(int turn) {
        dialedNanos = tunnels.now();
        dial = new Dial(tunnels, way, Alpn.NONE, preamble, true, this);
        dial.start(turn);
    }

    @Override
    public void onDialed(Channel established, @Nullable String protocol) {
        tunnels.onDialed(this, established);
        TcpClientStream opened =
                TcpClientStream.over(established, this, events, tunnels.observer, tunnels.loopPools.resources.wheel);
        stream = opened;
        dial = null;
        preamble = null;
        answered = true;
        callback.onDialed(tunnels.now() - dialedNanos);
        callback.onOpened(opened, way.hop(established));
    }

    @Override
    public void onDialFailed(Failure failure) {
        if (!answered) {
            tunnels.onDialFailed(this, failure);
        }
    }

    /** Answers that there will be none. */
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
            tunnels.onCancelled(this);
        }
    }

    @Override
    public void onOver() {
        tunnels.onOver();
    }

    /** Closes the connection at once; whoever uses it is told why. */
    void end(Failure failure) {
        if (stream != null) {
            stream.end(failure);
        }
    }
}
