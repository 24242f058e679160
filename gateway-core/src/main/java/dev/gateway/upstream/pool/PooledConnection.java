package dev.gateway.upstream.pool;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import org.jspecify.annotations.Nullable;

/**
 * An upstream connection as its pool sees it, for any protocol: how many streams it has room for, and whether it is idle.
 * Confined to its event loop.
 */
abstract class PooledConnection {
    final Channel channel;
    final EndpointContext endpoint;
    final KeptConnections owner;
    final DialedPeer peer;

    /** Its position among the pool's available connections, -1 if it is not among them. */
    int slot = -1;

    private State state = State.ACTIVE;

    /** When its maximum lifetime ends, by the wheel's clock. */
    long expiresAtNanos;

    /** When it became idle; valid only while it is idle. */
    long idleSinceNanos;

    /** When the pool closes it unless it is used again; valid only while it is idle. */
    long idleUntilNanos;

    private boolean permitted = true;

    private @Nullable CloseCause closeCause;

    /** The states of a connection. */
    enum State {
        /** Takes streams, and has some or is about to get one. */
        ACTIVE,

        /** Has no stream, and the pool keeps it for later ones; the observer counts it as idle. */
        KEPT_IDLE,

        /** Takes no new stream, and the pool closes it as soon as it has none. */
        RETIRING,

        CLOSED
    }

    PooledConnection(Channel channel, EndpointContext endpoint, KeptConnections owner) {
        this.channel = channel;
        this.endpoint = endpoint;
        this.owner = owner;
        this.peer =
                endpoint.target.peer(channel, endpoint.settings.dialSettings().addresses());
    }

    /** Returns the protocol's handler, to be added last to the channel's pipeline. */
    abstract ChannelHandler handler();

    abstract HttpVersion version();

    /** Returns how many more streams may be opened now. */
    abstract int room();

    /** Whether it supports streams of this kind. */
    abstract boolean takes(StreamKind kind);

    /** Opens a stream; only while there is room. */
    abstract ClientStream open(ResponseEvents events);

    /** Whether no stream is open. */
    abstract boolean isIdle();

    /**
     * The stream that was opened last is a request of this client.
     *
     * @param logins the upstream connections on which the client logs in, null if it cannot do so
     */
    void onOpenedFor(@Nullable LoginPins logins) {}

    /** Whether the endpoint wants another protocol for new streams. */
    boolean isOutdated() {
        return false;
    }

    /** It is idle, and the pool keeps it for later requests. */
    void onKept() {}

    /** Closes it now if it is idle, else when its last stream has ended. */
    abstract void finish();

    /** Tells its streams that the endpoint does not answer, and how that was found. */
    abstract void tellUnresponsive(String why);

    /** Closes it at once; its streams fail with this reason. */
    abstract void end(Failure failure);

    /** Returns how long to keep the connection while idle according to the peer's header, or {@link Long#MAX_VALUE}. */
    long keepAliveMillis() {
        return Long.MAX_VALUE;
    }

    final State state() {
        return state;
    }

    /** Changes the state; returns the former one. */
    final State moveTo(State next) {
        State before = state;
        state = next;
        return before;
    }

    /** Whether it takes streams, now or as soon as it has room. */
    final boolean isServing() {
        return state == State.ACTIVE || state == State.KEPT_IDLE;
    }

    /** Whether it is among the pool's available connections. */
    final boolean isAvailable() {
        return slot >= 0;
    }

    /** It was made without a permit, for one stream only. */
    final void onWithoutPermit() {
        permitted = false;
        state = State.RETIRING;
    }

    /** Whether it has a permit, which the pool gives back when it is closed. */
    final boolean isPermitted() {
        return permitted;
    }

    /** Sets why it is closed, unless there is a reason already. */
    final void closesFor(CloseCause cause) {
        if (closeCause == null) {
            closeCause = cause;
        }
    }

    /** Returns why it was closed. */
    final CloseCause closeCause() {
        return closeCause == null ? CloseCause.ENDPOINT : closeCause;
    }

    /** Returns why no stream may be opened on it now. */
    final CloseCause whyUnusable(long now) {
        if (isOutdated()) {
            return CloseCause.LIMIT; // the gateway's choice: no doubt about the address
        }
        if (!channel.isActive()) {
            return CloseCause.ENDPOINT;
        }
        if (!permitted) {
            return CloseCause.LIMIT;
        }
        return expiresAtNanos - now <= 0 ? CloseCause.MAX_LIFETIME : CloseCause.IDLE_TIMEOUT;
    }

    /**
     * Whether a stream may be opened on it now.
     *
     * @param idle whether it is idle
     */
    final boolean isUsable(boolean idle, long now) {
        return isServing()
                && !isOutdated()
                && expiresAtNanos - now > 0
                && channel.isActive()
                && (!idle || idleUntilNanos - now > 0);
    }
}
