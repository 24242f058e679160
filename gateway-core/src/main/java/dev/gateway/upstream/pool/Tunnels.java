package dev.gateway.upstream.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tunnels of one event loop to an endpoint, or to all endpoints that requests name. Each has a connection of its own.
 * If the limit of connections is reached, tunnels wait, and go to the endpoint of the upstream that has room
 * first. Their clients take turns. Confined to its loop.
 */
final class Tunnels implements PermitWaiter.Applicant {
    private final UpstreamContext context;
    private final SharedUpstream shared;
    private final UpstreamObserver observer;
    private final Host host;
    private final Siblings others;
    private final Function<Host, Tunnels> siblings;
    private final PermitWaiter permit;
    private final WaitQueue<TunnelOpening> waiting;
    private final Set<TunnelOpening> dialing = new LinkedHashSet<>();
    private final Set<TunnelOpening> open = new LinkedHashSet<>();
    private boolean closed;
    private int turn;

    /**
     * Begins without tunnels.
     *
     * @param others finds another endpoint of the upstream
     * @param siblings returns the tunnels to other endpoints of the upstream on this loop
     */
    Tunnels(UpstreamContext context, Host host, Siblings others, Function<Host, Tunnels> siblings) {
        this.context = context;
        this.shared = context.shared;
        this.observer = context.observer;
        this.waiting = new WaitQueue<>(shared.upstream.pendingRequests()::last);
        this.host = host;
        this.others = others;
        this.siblings = siblings;
        this.permit = new PermitWaiter(context.resources, host, shared.isFlexible(host.endpoint()), this);
    }

    StreamOpener.Opening open(
            DialTarget target,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        if (!host.requests().tryAcquire()) {
            observer.onPendingOverflow();
            callback.onOpenFailed(
                    DialFailure.of(Cause.PENDING_OVERFLOW, "too many requests in flight to " + shared.upstream));
            return StreamOpener.Opening.DONE;
        }
        TunnelOpening tunnel = new TunnelOpening(context, this, target, preamble, events, callback);
        observer.onPending();
        waiting.add(tunnel);
        if (host.isSpare() && callback.takesEjected()) {
            shared.permits.acquireBeyond(permit); // no limit holds for an ejected endpoint
            stopWaiting(tunnel);
            dial(tunnel);
            return tunnel;
        }
        dial();
        if (tunnel.isQueued() && !tunnel.connectionWait.beginForPermit(context, tunnel.client)) {
            failForOthers(tunnel);
            return StreamOpener.Opening.DONE;
        }
        return tunnel;
    }

    private void dial() {
        while (!permit.isWaiting() && !closed && !waiting.isEmpty() && shared.permits.tryAcquire(permit)) {
            dialNext();
        }
    }

    private void dialNext() {
        dial(takeNext());
    }

    private TunnelOpening takeNext() {
        TunnelOpening tunnel = Objects.requireNonNull(waiting.first());
        waiting.endTurn(tunnel, context.now());
        stopWaiting(tunnel);
        return tunnel;
    }

    private void dial(TunnelOpening tunnel) {
        dialing.add(tunnel);
        tunnel.dial(turn++);
        if (dialing.contains(tunnel)) {
            tunnel.connectionWait.beginForDial(context);
        }
    }

    /** The connection of a tunnel takes long: the tunnel goes to another endpoint that has room, if there is one. */
    private void onLate(TunnelOpening tunnel) {
        if (!permit.flexible) {
            return; // the request has named the endpoint
        }
        if (!context.resources.room.isAwaitedHere() && tunnel.onLate()) { // else the endpoint is not to blame
            shared.upstream.health().onUnreached(tunnel.target.endpoint(), Cause.CONNECT_TIMEOUT);
        }
        Host other = others.untriedWithRoom(host, tunnel.callback);
        if (other == null || !siblings.apply(other).receive(tunnel, this)) {
            tunnel.connectionWait.beginForDial(context);
        }
    }

    /** Takes over a tunnel whose connection to another endpoint takes long; returns false if there is no room for it. */
    private boolean receive(TunnelOpening tunnel, Tunnels from) {
        if (closed || !host.requests().tryAcquire()) {
            return false;
        }
        if (host.isSpare()) {
            shared.permits.acquireBeyond(permit); // no limit holds for an ejected endpoint
        } else if (!shared.permits.tryAcquire(host)) {
            host.requests().release();
            return false;
        }
        from.dialing.remove(tunnel);
        tunnel.moveTo(this, DialTarget.straight(host.endpoint()));
        from.host.requests().release();
        shared.permits.release(from.host);
        dial(tunnel);
        return true;
    }

    /** This has got a permit for another endpoint: the tunnel whose turn it is goes there. */
    private void moveNext(Tunnels to) {
        TunnelOpening tunnel = takeNext();
        host.requests().release();
        to.host.requests().acquireBeyond(); // a tunnel that has waited is not refused after that
        tunnel.moveTo(to, DialTarget.straight(to.host.endpoint()));
        to.dial(tunnel);
    }

    private void stopWaiting(TunnelOpening tunnel) {
        waiting.remove(tunnel);
        tunnel.connectionWait.cancel();
        tunnel.connectionWait.endForPermit(context);
        if (waiting.isEmpty()) {
            shared.permits.leave(permit);
        }
    }

    /** Fails a tunnel that has no connection yet. */
    private void fail(TunnelOpening tunnel, Failure failure) {
        leave(tunnel);
        tunnel.fail(failure);
    }

    private void leave(TunnelOpening tunnel) {
        stopWaiting(tunnel);
        observer.onPendingEnded(context.now() - tunnel.connectionWait.sinceNanos);
        host.requests().release();
    }

    void onWaited(TunnelOpening tunnel) {
        if (!tunnel.isQueued()) {
            onLate(tunnel);
            return;
        }
        observer.onPendingTimeout();
        fail(
                tunnel,
                DialFailure.of(
                        Cause.PENDING_TIMEOUT,
                        "no connection to " + tunnel.target.endpoint() + " became free in time"));
    }

    void onPlaceLost(TunnelOpening tunnel) {
        failForOthers(tunnel);
    }

    private void failForOthers(TunnelOpening tunnel) {
        fail(tunnel, DialFailure.of(Cause.PENDING_OVERFLOW, "too many requests wait for a connection"));
    }

    void onCancelled(TunnelOpening tunnel) {
        boolean dialed = dialing.remove(tunnel);
        leave(tunnel);
        if (dialed) {
            shared.permits.release(host);
        }
    }

    void onDialFailed(TunnelOpening tunnel, Failure failure) {
        dialing.remove(tunnel);
        boolean isOurs = failure.cause() == Cause.OVERLOAD; // a shortage of the gateway, no failure of the endpoint
        if (!isOurs && tunnel.onLate()) {
            shared.upstream.health().onUnreached(tunnel.target.endpoint(), failure.cause());
        }
        observer.onConnectFailed(failure.cause());
        fail(tunnel, failure);
        shared.permits.release(host);
    }

    void onDialed(TunnelOpening tunnel, Channel channel) {
        boolean secure = shared.isSecured() || tunnel.target.isSecured();
        dialing.remove(tunnel);
        tunnel.connectionWait.cancel();
        shared.upstream.health().onReached(tunnel.target.endpoint());
        open.add(tunnel);
        observer.onPendingEnded(context.now() - tunnel.connectionWait.sinceNanos);
        observer.onOpened(HttpVersion.TCP, secure);
        channel.closeFuture().addListener(closed -> {
            open.remove(tunnel);
            shared.permits.release(host);
            observer.onClosed(HttpVersion.TCP, secure, CloseCause.TUNNEL);
        });
    }

    void onOver() {
        host.requests().release();
    }

    /** Ends everything at once. */
    void close() {
        closed = true;
        close(endpoint -> true);
    }

    /** Ends all tunnels to these endpoints at once. */
    void close(Predicate<Endpoint> gone) {
        for (List<TunnelOpening> each : List.of(waiting.copy(), List.copyOf(dialing), List.copyOf(open))) {
            for (TunnelOpening tunnel : each) {
                if (gone.test(tunnel.target.endpoint())) {
                    end(
                            tunnel,
                            Failure.of(
                                    Cause.DRAIN,
                                    tunnel.target.endpoint() + " of the upstream " + shared.upstream
                                            + " has been removed"));
                }
            }
        }
    }

    private void end(TunnelOpening tunnel, Failure failure) {
        if (dialing.contains(tunnel)) {
            onDialFailed(tunnel, failure);
        } else if (tunnel.isQueued()) {
            fail(tunnel, failure);
        } else {
            tunnel.end(failure);
        }
    }

    /** Whether its endpoint was removed, and no tunnel is left. */
    boolean isOver() {
        return host.isGone() && waiting.isEmpty() && dialing.isEmpty() && open.isEmpty() && !permit.isWaiting();
    }

    PoolCounts counts() {
        return new PoolCounts(0, open.size(), dialing.size(), waiting.size());
    }

    @Override
    public boolean hasNoConnection() {
        return open.isEmpty() && dialing.isEmpty();
    }

    @Override
    public void onPermit(Host granted) {
        if (closed || waiting.isEmpty()) {
            shared.permits.release(granted);
        } else if (granted != host && !granted.isChosen()) { // it left service meanwhile
            shared.permits.release(granted);
            dial();
        } else {
            if (granted == host) {
                dialNext();
            } else {
                moveNext(siblings.apply(granted));
            }
            dial();
        }
    }

    boolean isClosed() {
        return closed;
    }
}
