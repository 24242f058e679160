package dev.gateway.upstream.pool;

import dev.gateway.protocol.http2.Http2ClientConnection;
import dev.gateway.protocol.http2.Http2ClientSettings;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/** An HTTP/2 connection: it has room for as many streams as the peer allows. */
final class Http2Pooled extends PooledConnection implements Http2ClientConnection.Listener {
    private final Http2ClientConnection connection;
    private final Opening opening;
    private int streams; // open streams, as the pool counts them
    private boolean finishing;

    /** Who waits for the connection. */
    interface Opening {
        /** The handshake is complete. Called again each time that the number of allowed streams changes. */
        void onReady();

        /** The endpoint does not speak HTTP/2. */
        void onOtherProtocol(String detail);
    }

    /** Makes a connection that sends its preface as soon as its handler is in the pipeline. */
    Http2Pooled(Channel channel, EndpointContext endpoint, KeptConnections owner, Opening opening) {
        super(channel, endpoint, owner);
        this.opening = opening;
        this.connection = Http2ClientConnection.create(
                this, endpoint.observer, endpoint.resources.wheel, Http2ClientSettings.DEFAULT);
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
    boolean takes(StreamKind kind) {
        return switch (kind) {
            case UPGRADE -> connection.allowsExtendedConnect();
            case SWITCH -> false; // HTTP/2 has no way back to the bytes of a connection
            default -> true;
        };
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
    boolean isOutdated() {
        return endpoint.takesHttp1Only(); // another connection, maybe of another event loop, has heard of it
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
        if (!finishing) {
            finishing = true;
            connection.drain();
        }
    }

    @Override
    public void onReady() {
        opening.onReady();
    }

    @Override
    public void onOtherProtocol(String detail) {
        opening.onOtherProtocol(detail);
    }

    @Override
    public void onCapacityChanged() {
        opening.onReady();
        countEnded(connection.activeStreams());
        owner.onRoom(this);
    }

    @Override
    public boolean onHttp1Required() {
        return endpoint.shared.requireHttp1(endpoint.target.endpoint());
    }

    @Override
    public void onSilent(String why, int seconds) {
        endpoint.onSilent(why, seconds);
    }

    @Override
    public boolean isReplaceable() {
        return owner.isReplaceable();
    }

    @Override
    public void onGoingAway(CloseCause cause) {
        owner.onGoingAway(this, cause);
    }

    @Override
    public void onClosed() {
        countEnded(0);
        owner.retire(this, CloseCause.ENDPOINT);
    }

    private void countEnded(int active) {
        if (streams > active) {
            int ended = streams - active;
            streams = active;
            endpoint.releaseRequests(ended);
        }
    }
}
