package dev.gateway.exchange;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.tunnel.OpenTunnel;
import dev.gateway.exchange.tunnel.OpenTunnels;
import dev.gateway.exchange.tunnel.WebSocketCloser;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The tunnel that an exchange has become. It has limits of its own, counts bytes as they move, reports while it is open,
 * and can close a WebSocket. Made when the response's head says so.
 */
final class TunnelExchange implements OpenTunnels.Member {
    /** Time between two reports about a tunnel with traffic. */
    static final long REPORT_MILLIS = 60_000;

    /** How long both ends of a WebSocket may take to answer a Close frame. */
    static final long CLOSE_MILLIS = 5_000;

    private final Exchange exchange;
    private final ExchangeRecord record;
    private final @Nullable WebSocketCloser closer; // null if a tunnel of its kind has none
    private long number;
    private long movedNanos;
    private long reportedBytes;
    private @Nullable Failure closeReason; // why the gateway closes it, null if it does not

    TunnelExchange(Exchange exchange) {
        this.exchange = exchange;
        this.record = exchange.record;
        this.closer = record.kind == Kind.WEBSOCKET ? new WebSocketCloser() : null;
    }

    void open(TunnelTimeouts limits) {
        if (closer != null) {
            exchange.response.interleave(closer);
        }
        record.openedNanos = record.respondedNanos;
        exchange.deadlines.tunnel(limits, REPORT_MILLIS, record.openedNanos);
        record.reportedNanos = record.openedNanos;
        movedNanos = record.openedNanos;
        number = exchange.loop.tunnels.add(this);
        exchange.loop.observer.onTunnelOpened(record);
        if (record.receivedBytes > 0) {
            onReceived(record.receivedBytes); // bytes that the client sent before the response
        }
        if (exchange.state.isRequestEnded()) {
            onHalfClosed(); // the client has already ended its direction
        }
    }

    /** The response's head has been sent: frees spare room of the fields, which are kept for the log only. */
    void onAnswered() {
        if (record.fields != null) {
            record.fields.trim();
        }
        if (record.responseFields != null) {
            record.responseFields.trim();
        }
    }

    /** Bytes have arrived from the client. */
    void onReceived(long bytes) {
        movedNanos = exchange.loop.wheel.nanoTime();
        exchange.loop.observer.onTunnelBytes(record, bytes, 0);
    }

    /** Bytes go to the client. */
    void onSent(long bytes) {
        movedNanos = exchange.loop.wheel.nanoTime();
        exchange.loop.observer.onTunnelBytes(record, 0, bytes);
    }

    /** One direction has ended. */
    void onHalfClosed() {
        if (record.endedBy == null) {
            record.endedBy = exchange.state.isRequestEnded() ? Side.CLIENT : Side.UPSTREAM;
        }
        if (record.kind != Kind.UPGRADE) { // a program that has read its input may run on in silence
            exchange.deadlines.halfClosed();
        }
    }

    /** It is time for a report. Reports only if bytes have moved. */
    void onReportDue() {
        long bytes = record.receivedBytes + record.sentBytes;
        if (bytes != reportedBytes) {
            reportedBytes = bytes;
            record.reportedNanos = exchange.loop.wheel.nanoTime();
            exchange.loop.observer.onTunnelProgress(record);
        }
    }

    /** The listener drains. Asks a WebSocket to close; at the end of the drain, {@link #onEnding} ends it anyway. */
    void onDraining() {
        requestClose(Failure.of(Cause.DRAIN, "the listener was drained"));
    }

    /** Its time is over: closes a WebSocket by a Close frame, and gives both ends a few seconds; ends others at once. */
    void onTimeUp(Failure failure) {
        if (requestClose(failure)) {
            exchange.deadlines.awaitClose(CLOSE_MILLIS);
        } else if (closer != null && closer.isFarewellSaid()) {
            exchange.endInOrder(closeReason == null ? failure : closeReason);
        } else {
            exchange.fail(closeReason == null ? failure : closeReason);
        }
    }

    /**
     * The client's connection is about to be ended: a WebSocket gets its Close frame, unless it has one or is in the middle of
     * another frame. Returns whether it has ended in order.
     */
    boolean onEnding(Failure failure) {
        if (closer == null) {
            return false;
        }
        requestClose(failure);
        if (exchange.state.isDone()) {
            return true;
        }
        if (!closer.isFarewellSaid()) {
            return false;
        }
        exchange.endInOrder(closeReason == null ? failure : closeReason);
        return true;
    }

    /** Asks a WebSocket to close by a Close frame; returns whether it is still open. */
    private boolean requestClose(Failure failure) {
        if (closer == null || closeReason != null || exchange.state.isResponseEnded()) {
            return false;
        }
        closeReason = failure;
        closer.want();
        exchange.response.sendClose();
        exchange.response.flush();
        return !exchange.state.isDone();
    }

    @Override
    public long number() {
        return number;
    }

    @Override
    public OpenTunnel view(long now) {
        ConnectionInfo connection = record.connection;
        String path = record.path.toString();
        int question = path.indexOf('?');
        String visible = question < 0 ? path : path.substring(0, question); // a query may hold secrets
        return new OpenTunnel(
                number,
                record.kind,
                new OpenTunnel.Client(
                        connection.listenerName(),
                        connection.version().text().toString(),
                        record.client.toString(),
                        connection.peer().toString(),
                        record.identity),
                new OpenTunnel.Destination(
                        record.kind == Kind.TUNNEL ? record.authority.toString() : record.authority + visible,
                        record.route,
                        record.upstream,
                        record.endpoint == null ? "" : record.endpoint.toString()),
                new OpenTunnel.Traffic(
                        now - record.openedNanos, now - movedNanos, record.receivedBytes, record.sentBytes));
    }

    /** Returns why the gateway closed it by a Close frame, else null. */
    @Nullable
    Failure closeReason() {
        return closer != null && closer.isSent() ? closeReason : null;
    }
}
