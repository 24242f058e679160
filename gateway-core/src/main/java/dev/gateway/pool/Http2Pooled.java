package dev.gateway.pool;

import dev.gateway.http2.Http2ClientConnection;
import dev.gateway.http2.Http2ClientSettings;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/** A connection of HTTP/2: room for as many streams as the peer allows. */
final class Http2Pooled extends PooledConnection implements Http2ClientConnection.Listener {
    private final Http2ClientConnection connection;
    private final PendingConnection arrival;
    private int streams; // that the pool knows of
    private boolean finishing;

    Http2Pooled(Channel channel, EndpointPool pool, PendingConnection arrival) {
        super(channel, pool);
        this.arrival = arrival;
        this.connection = Http2ClientConnection.create(
                this, pool.endpoint.observer, pool.endpoint.resources.wheel, Http2ClientSettings.DEFAULT);
    }

    @Override
    ChannelHandler handler() {
        return connection;
    }

    @Override
    HttpVersion version() {
        return HttpVersion.HTTP_2;
    }

    @Override
    int room() {
        return connection.availableStreams();
    }

    @Override
    boolean takes(StreamKind demand) {
        return demand != StreamKind.UPGRADE || connection.allowsExtendedConnect();
    }

    @Override
    ClientStream open(ResponseEvents events) {
        streams++;
        return connection.open(events);
    }

    @Override
    boolean isIdle() {
        return connection.activeStreams() == 0;
    }

    @Override
    void end(Failure failure) {
        connection.end(failure);
    }

    @Override
    void finish() {
        if (!finishing) {
            finishing = true;
            connection.drain();
        }
    }

    @Override
    public void onReady() {
        arrival.onReady();
    }

    @Override
    public void onCapacityChanged() {
        arrival.onReady();
        countEnded(connection.activeStreams());
        pool.kept.onRoom(this);
    }

    @Override
    public void onGoingAway() {
        pool.kept.onGoingAway(this);
    }

    @Override
    public void onClosed() {
        countEnded(0);
        pool.kept.retire(this, CloseCause.ENDPOINT);
    }

    private void countEnded(int active) {
        if (streams > active) {
            int ended = streams - active;
            streams = active;
            pool.endpoint.releaseRequests(ended);
        }
    }
}
