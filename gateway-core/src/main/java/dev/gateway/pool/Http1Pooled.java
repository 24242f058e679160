package dev.gateway.pool;

import dev.gateway.http1.Http1ClientConnection;
import dev.gateway.http1.Http1ClientSettings;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Demand;
import dev.gateway.upstream.ParentProxy;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/** A connection of HTTP/1.1: room for one stream, as long as there is none. */
final class Http1Pooled extends PooledConnection implements Http1ClientConnection.Listener {
    private final Http1ClientConnection connection;
    private long keepAliveMillis = Long.MAX_VALUE;
    private boolean leased;
    private boolean served; // a request, after which servers wait for another as long as for no first one

    Http1Pooled(Channel channel, EndpointPool pool) {
        super(channel, pool);
        this.connection = new Http1ClientConnection(this, pool.observer, pool.loopPools.wheel, settings(pool.way));
    }

    private static Http1ClientSettings settings(Way way) {
        ParentProxy parent = way.parent();
        return parent != null && way.forwards()
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
    boolean takes(Demand demand) {
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
        return keepAliveMillis;
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
            keepAliveMillis = KeepAlive.within(peerKeepsMillis);
        }
        if (!served) { // each response would contradict those of other servers behind the address
            if (peerKeepsMillis >= 0) {
                pool.keepAlive.onSaid(peerKeepsMillis);
            } else {
                pool.keepAlive.onSaidNothing();
            }
        }
        served = true;
        endLease();
        pool.kept.onRoom(this);
    }

    @Override
    public void onClosed(Http1ClientConnection closed) {
        if (served && !leased && !retiring && !pool.isClosed()) { // by the endpoint
            pool.keepAlive.onClosed(idleSinceNanos, pool.now());
        }
        endLease();
        pool.kept.retire(this);
    }

    @Override
    public void onStale(Http1ClientConnection closed) {
        pool.kept.onStale(this);
    }

    @Override
    void onKept() {
        connection.keep();
    }

    private void endLease() {
        if (leased) {
            leased = false;
            pool.onStreamsEnded(1);
        }
    }
}
