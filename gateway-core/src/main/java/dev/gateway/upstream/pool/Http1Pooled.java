package dev.gateway.upstream.pool;

import dev.gateway.net.PeerAcks;
import dev.gateway.protocol.http1.Http1ClientConnection;
import dev.gateway.protocol.http1.Http1ClientSettings;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An HTTP/1.1 connection: it has room for one stream at a time. */
final class Http1Pooled extends PooledConnection
        implements Http1ClientConnection.Listener, LoginPins.Pin, AckWatch.Watched {
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

    private final AckWatch watch;
    private final long openedNanos;
    private int served; // number of requests
    private boolean leased;
    private @Nullable LoginPins logins; // of the client whose request it has, or that it is pinned to
    private boolean pinned; // to a client that logs in on it

    Http1Pooled(Channel channel, EndpointContext endpoint, KeptConnections owner) {
        super(channel, endpoint, owner);
        this.watch = new AckWatch(this, endpoint.resources.wheel);
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
        watch.begin();
        logins = pinned ? logins : null; // a check has no client
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
        if (connection.isBound()) {
            pin();
        } else if (served >= endpoint.idleTimeout.requests.most(endpoint.now())) {
            owner.retire(this, CloseCause.MAX_REQUESTS);
        } else if (endpoint.idleTimeout.requests.isDoubtful(served)) {
            idleSinceNanos = endpoint.now();
            endpoint.resources.wheel.arm(doubtTimer, DOUBT_MILLIS);
        } else {
            owner.onRoom(this);
        }
    }

    // ---- an endpoint that is gone

    @Override
    public boolean isAwaited() {
        return connection.isAwaited();
    }

    @Override
    public int activity() {
        return connection.activity();
    }

    @Override
    public @Nullable PeerAcks acks() {
        return PeerAcks.read(channel);
    }

    @Override
    public void probe(boolean on) {
        PeerAcks.probe(channel, on);
    }

    @Override
    public void onSilent(boolean first) {
        String why = "it has acknowledged nothing for " + AckWatch.SILENT_SECONDS + " s";
        if (first) {
            endpoint.onSilent(why, AckWatch.SILENT_SECONDS);
        }
        connection.tellUnresponsive(why);
    }

    // ---- a client that logs in on the connection

    @Override
    void onOpenedFor(@Nullable LoginPins of) {
        logins = of;
    }

    @Override
    public boolean keepsLogin() {
        return logins != null && !logins.isEnded();
    }

    private void pin() {
        pinned = true;
        idleSinceNanos = endpoint.now();
        if (logins == null || !logins.add(this)) {
            end();
        } else {
            owner.onPinned(this);
        }
    }

    @Override
    public LoginPins.Place place() {
        return new LoginPins.Place(endpoint.shared, endpoint.target.name());
    }

    @Override
    public void end() {
        owner.retire(this, CloseCause.REQUEST);
    }

    /**
     * Opens a stream for the next request of the client that it is pinned to.
     *
     * @return false if the connection has ended; the request goes the way of others then
     */
    boolean reopen(Endpoint chosen, ResponseEvents events, StreamOpener.Callback callback) {
        if (!endpoint.host.isUsed()) { // it drains, is ejected or fails its checks: the client logs in elsewhere
            end();
            return false;
        }
        if (!connection.isIdle() || endpoint.host.isGone() || endpoint.resources.peerClose.hasCome(channel)) {
            return false;
        }
        if (!leased) { // else the response has just ended in this stack, and this request takes over its lease
            endpoint.host.requests().acquireBeyond(); // the client waits for nobody: its connection is there
        }
        Endpoint own = endpoint.target.endpoint();
        if (!own.equals(chosen)) {
            callback.onMoved(own);
        }
        callback.onOpened(open(events), peer);
        return true;
    }

    @Override
    public void onClosed(Http1ClientConnection closed) {
        doubtTimer.cancel();
        watch.cancel();
        if (pinned && logins != null) {
            logins.remove(this);
        }
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
