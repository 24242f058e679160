package dev.gateway.pool;

import dev.gateway.http1.Http1ClientConnection;
import dev.gateway.http1.Http1ClientSettings;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.ParentProxy;
import dev.gateway.upstream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An HTTP/1.1 connection: it has room for one stream at a time. */
final class Http1Pooled extends PooledConnection implements Http1ClientConnection.Listener {
    private static final Logger log = LoggerFactory.getLogger(Http1Pooled.class);

    /** How long to leave a connection unused that the endpoint may be closing right now. */
    private static final long DOUBT_MILLIS = 10;

    private final Http1ClientConnection connection;
    private long keepAliveMillis = Long.MAX_VALUE;

    /** Runs while the connection is left unused because the endpoint may be closing it. */
    private final Timer doubtTimer = new Timer() {
        @Override
        protected void onExpired() {
            owner.onRoom(Http1Pooled.this);
        }
    };

    private final long openedNanos;
    private int served; // number of requests
    private boolean leased;

    Http1Pooled(Channel channel, EndpointContext endpoint, Owner owner) {
        super(channel, endpoint, owner);
        this.openedNanos = endpoint.now();
        this.connection =
                new Http1ClientConnection(this, endpoint.observer, endpoint.resources.wheel, settings(endpoint.target));
    }

    private static Http1ClientSettings settings(DialTarget target) {
        ParentProxy parent = target.parent();
        return parent != null && target.forwards()
                ? Http1ClientSettings.proxy(
                        parent.toString(),
                        parent.credentials() == null
                                ? null
                                : parent.credentials().basic())
                : Http1ClientSettings.DEFAULT;
    }

    @Override
    ChannelHandler handler() {
        return connection;
    }

    @Override
    HttpVersion version() {
        return HttpVersion.HTTP_1_1;
    }

    @Override
    int room() {
        return connection.isIdle() ? 1 : 0;
    }

    @Override
    boolean takes(StreamKind kind) {
        return true;
    }

    @Override
    ClientStream open(ResponseEvents events) {
        leased = true;
        return connection.open(events);
    }

    @Override
    boolean isIdle() {
        return connection.isIdle();
    }

    @Override
    long keepAliveMillis() {
        return served == 0 ? endpoint.idleTimeout.saidMillis() : keepAliveMillis;
    }

    @Override
    void tellUnresponsive(String why) {
        connection.tellUnresponsive(why);
    }

    @Override
    void end(Failure failure) {
        connection.end(failure);
    }

    @Override
    void finish() {
        if (connection.isIdle()) {
            connection.close();
        }
    }

    @Override
    public void onReusable(Http1ClientConnection reusable, long peerKeepsMillis) {
        if (peerKeepsMillis >= 0) {
            keepAliveMillis = LearnedIdleTimeout.within(peerKeepsMillis);
        }
        if (served == 0) { // only the first response: servers behind one address may say different things
            if (peerKeepsMillis >= 0) {
                endpoint.idleTimeout.onSaid(peerKeepsMillis);
            } else {
                endpoint.idleTimeout.onSaidNothing();
            }
        }
        served++;
        endpoint.idleTimeout.requests.onServed(served);
        endLease();
        if (served >= endpoint.idleTimeout.requests.most(endpoint.now())) {
            owner.retire(this, CloseCause.MAX_REQUESTS);
        } else if (endpoint.idleTimeout.requests.isDoubtful(served)) {
            idleSinceNanos = endpoint.now();
            endpoint.resources.wheel.arm(doubtTimer, DOUBT_MILLIS);
        } else {
            owner.onRoom(this);
        }
    }

    @Override
    public void onClosed(Http1ClientConnection closed) {
        doubtTimer.cancel();
        if (served > 0 && !leased && isServing() && !owner.isClosed()) { // by the endpoint
            long now = endpoint.now();
            if (KeepAliveRequests.isSoon(now - idleSinceNanos)) {
                onClosedSoon(now);
            } else {
                endpoint.idleTimeout.onClosed(idleSinceNanos, now);
            }
        }
        endLease();
        owner.retire(this, closed.closeCause());
    }

    @Override
    public void onStale(Http1ClientConnection closed) {
        long now = endpoint.now();
        if (served > 0 && KeepAliveRequests.isSoon(now - idleSinceNanos)) {
            onClosedSoon(now);
        }
        owner.onStale(this);
    }

    private void onClosedSoon(long now) {
        if (endpoint.idleTimeout.requests.onClosed(served, openedNanos, now)) {
            log.info(
                    "{} closes connections after {} requests without announcing it: the gateway closes them first from now on",
                    endpoint.target,
                    served);
        }
    }

    @Override
    void onKept() {
        connection.keep();
    }

    private void endLease() {
        if (leased) {
            leased = false;
            endpoint.releaseRequests(1);
        }
    }
}
