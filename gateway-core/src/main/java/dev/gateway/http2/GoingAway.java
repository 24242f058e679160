package dev.gateway.http2;

import dev.gateway.net.Drainable;
import dev.gateway.time.Timer;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;

/**
 * How a server connection takes leave of its client (RFC 9113, section 6.8): by a first GOAWAY, after which requests that
 * are on their way are still taken, and by one that names the last stream once the client has read the first. Part of the
 * connection; the timer is for clients that do not answer.
 */
final class GoingAway extends Timer {
    private static final long ROUND_MILLIS = 1_000; // for requests under way while the first GOAWAY travels
    private static final int ROUNDS = 5; // of that time, if there are requests to wait for anyway
    private static final long PING = 0x6472_6169_6e00_0001L;

    private final Http2ServerConnection connection;
    private boolean begun; // takes no new streams soon
    private boolean said;
    private boolean lastStreamSaid;
    private int rounds;

    GoingAway(Http2ServerConnection connection) {
        this.connection = connection;
    }

    /** Whether the client was told which of its streams is the last. */
    boolean isLastStreamSaid() {
        return lastStreamSaid;
    }

    /** Tells a client to take what it asks next elsewhere; one that has asked nothing yet may ask once. */
    void announceClose() {
        if (!begun && connection.isOpen()) {
            begun = true;
            if (hasRequests()) {
                say();
            }
        }
    }

    /** Takes no new streams, and closes when those it has are done. */
    void retire() {
        if (said || isArmed() || !connection.isOpen()) {
            return;
        }
        begun = true;
        if (hasRequests()) {
            say();
        } else { // a client that has read GOAWAY would not even send its first request
            connection.timers.arm(this, Drainable.FIRST_REQUEST_MILLIS);
        }
    }

    /** A request was taken. */
    void onRequest() {
        if (begun && !said) {
            say();
        }
    }

    private boolean hasRequests() {
        return connection.connection().remote().lastStreamCreated() > 0;
    }

    private void say() {
        said = true;
        ChannelHandlerContext ctx = connection.context();
        // Requests that are on their way are still taken: the last id is named when the client has read this.
        goAway(ctx, Integer.MAX_VALUE);
        connection.encoder().writePing(ctx, false, PING, ctx.newPromise());
        connection.flush(ctx);
        connection.timers.arm(this, ROUND_MILLIS);
    }

    private void goAway(ChannelHandlerContext ctx, int lastStream) {
        connection.goAway(ctx, lastStream, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, ctx.newPromise());
    }

    /** The client has read what was sent before the PING. */
    void onPingAck(long data) {
        if (data == PING && begun) {
            sayLastStream();
        }
    }

    /** Takes no stream any more that has not come yet. */
    void sayLastStream() {
        cancel();
        if (lastStreamSaid || !connection.isOpen()) {
            return;
        }
        lastStreamSaid = true;
        int last = connection.connection().remote().lastStreamCreated();
        connection.lateFrames().onLastStreamSaid(last);
        goAway(connection.context(), last);
        if (connection.connection().numActiveStreams() == 0) {
            connection.closeAfterWrites();
        } else {
            connection.requestFlush();
        }
    }

    @Override
    protected void onExpired() {
        if (said && connection.connection().numActiveStreams() > 0 && ++rounds < ROUNDS) {
            // The client may be far away, and nothing is lost by taking its requests.
            connection.timers.arm(this, ROUND_MILLIS);
        } else {
            sayLastStream();
        }
    }
}
