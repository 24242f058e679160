package dev.gateway.pool;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import org.jspecify.annotations.Nullable;

/**
 * An upstream connection as its pool sees it, whatever the protocol: room for so many streams, and idle or not. Confined
 * to its event loop.
 */
abstract class PooledConnection {
    final Channel channel;
    final EndpointContext endpoint;
    final Owner owner;
    final DialedPeer peer;

    /** Its position among the pool's available connections, -1 if it is not among them. */
    int slot = -1;

    private State state = State.ACTIVE;

    /** When it must no longer be used though nothing is wrong with it, by the wheel's clock. */
    long expiresAtNanos;

    /** Since when it has been idle; counts only while it is. */
    long idleSinceNanos;

    /** When it is closed unless it is used again; counts only while it is idle. */
    long idleUntilNanos;

    private boolean permitted = true;

    private @Nullable CloseCause closeCause;

    /** What becomes of it. */
    enum State {
        /** Takes streams, and has some or is about to. */
        ACTIVE,

        /** Has no stream, and is kept for later ones; the observer counts it as idle. */
        KEPT_IDLE,

        /** Takes no new stream, and is closed as soon as it has none. */
        RETIRING,

        CLOSED
    }

    /** Where it is kept. */
    interface Owner {
        /** The connection has room for a stream, maybe because one ended. */
        void onRoom(PooledConnection connection);

        /** The peer lets the connection take no new stream. */
        void onGoingAway(PooledConnection connection);

        /** The endpoint has closed the connection that was kept for it, and a request was lost by that. */
        void onStale(PooledConnection connection);

        /** Lets the connection take no new stream, and closes it now or when its last stream has ended. */
        void retire(PooledConnection connection, CloseCause cause);

        /** Whether all of them are being closed. */
        boolean isClosed();
    }

    PooledConnection(Channel channel, EndpointContext endpoint, Owner owner) {
        this.channel = channel;
        this.endpoint = endpoint;
        this.owner = owner;
        this.peer = endpoint.target.peer(channel);
    }

    /** Returns the protocol's handler, to be added last to the channel's pipeline. */
    abstract ChannelHandler handler();

    abstract HttpVersion version();

    /** Returns how many more streams may be opened now. */
    abstract int room();

    /** Whether its streams can be of that kind. */
    abstract boolean takes(StreamKind kind);

    /** Opens a stream; only while there is room. */
    abstract ClientStream open(ResponseEvents events);

    /** Whether no stream is open. */
    abstract boolean isIdle();

    /** It is idle, and kept for later requests. */
    void onKept() {}

    /** Closes it now if it is idle, else when its last stream has ended. */
    abstract void finish();

    /** Closes it at once; its streams are told why. */
    abstract void end(Failure failure);

    /** How long the peer says that it keeps the connection while idle, or {@link Long#MAX_VALUE}. */
    long keepAliveMillis() {
        return Long.MAX_VALUE;
    }

    final State state() {
        return state;
    }

    /** Goes on to another state; returns the one before. */
    final State moveTo(State next) {
        State before = state;
        state = next;
        return before;
    }

    /** Whether it takes streams, now or when one has ended. */
    final boolean isServing() {
        return state == State.ACTIVE || state == State.KEPT_IDLE;
    }

    /** Whether it is among the pool's available connections. */
    final boolean isAvailable() {
        return slot >= 0;
    }

    /** It was made without a permit, for one stream: it takes no other. */
    final void onWithoutPermit() {
        permitted = false;
        state = State.RETIRING;
    }

    /** Whether it has a permit of the upstream's limit, which is given back when it is closed. */
    final boolean isPermitted() {
        return permitted;
    }

    /** It is to be closed, or is closed, for this reason, unless there was another one before. */
    final void closesFor(CloseCause cause) {
        if (closeCause == null) {
            closeCause = cause;
        }
    }

    /** Returns why it was closed. */
    final CloseCause closeCause() {
        return closeCause == null ? CloseCause.ENDPOINT : closeCause;
    }

    /** Returns why no stream may be opened on it at that time. */
    final CloseCause whyUnusable(long now) {
        if (!channel.isActive()) {
            return CloseCause.ENDPOINT;
        }
        if (!permitted) {
            return CloseCause.LIMIT;
        }
        return expiresAtNanos - now <= 0 ? CloseCause.MAX_LIFETIME : CloseCause.IDLE_TIMEOUT;
    }

    /** Whether a stream may be opened on it at that time. */
    final boolean isUsable(long now) {
        return isServing() && expiresAtNanos - now > 0 && channel.isActive() && (!isIdle() || idleUntilNanos - now > 0);
    }
}
