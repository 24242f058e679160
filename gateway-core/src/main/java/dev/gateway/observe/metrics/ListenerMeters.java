package dev.gateway.observe.metrics;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.counts.ByName;
import dev.gateway.observe.counts.Counts;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.stream.Cause;
import java.util.Map;

/** What is counted of one listener on one event loop. */
final class ListenerMeters extends ConnectionMeters {
    private static final int BEGUN = 0;
    private static final int COMPLETED = 1;
    private static final int ANSWERED_BY_FAILURE = 2;
    private static final int BROKEN_OFF = 3;

    private final Counts counts = new Counts(4);
    private final ByName<RouteMeters> routes = new ByName<>(name -> new RouteMeters());
    final FineHistogram recent = new FineHistogram();
    final TunnelMeters tunnels = new TunnelMeters();
    private long httpReceivedBytes; // as told last, guarded by this
    private long httpSentBytes;

    Map<String, RouteMeters> routes() {
        return routes.all();
    }

    void begun() {
        counts.add(BEGUN, 1);
    }

    private RouteMeters route(ExchangeRecord exchange) {
        return routes.onLoop(exchange.route);
    }

    void tunnelOpened(ExchangeRecord exchange) {
        tunnels.opened(exchange);
        route(exchange).opened(exchange);
    }

    void completed(ExchangeRecord exchange) {
        // How long a tunnel lasts says nothing of how fast requests are answered; how long it took to open does.
        long answered = exchange.openedNanos == 0 ? exchange.endNanos : exchange.openedNanos;
        long nanos = answered - exchange.startNanos;
        route(exchange).completed(exchange, nanos);
        recent.record(nanos);
        boolean tunnel = exchange.openedNanos != 0;
        if (tunnel || exchange.kind == Kind.TUNNEL) {
            tunnels.ended(exchange);
        }
        if (exchange.cause != null && !tunnel) {
            if (exchange.respondedNanos != 0 && !isWhole(exchange.cause)) {
                counts.add(BROKEN_OFF, 1);
            } else if (exchange.status >= 500) {
                counts.add(ANSWERED_BY_FAILURE, 1);
            }
        }
        if (exchange.hasOddNames) {
            onViolation("odd_field_name");
        }
        counts.add(COMPLETED, 1);
    }

    /** Whether a response that has begun was forwarded whole. */
    private static boolean isWhole(Cause cause) {
        return cause == Cause.RETRY_LIMIT || cause == Cause.RETRY_BUDGET;
    }

    /**
     * Returns the bytes received that are no tunnel's. It never falls, though the numbers that it is made of are not
     * those of one moment.
     */
    synchronized long httpReceivedBytes() {
        long all = get(Count.RECEIVED_BYTES);
        long now = all - tunnels.receivedBytes() - tunnels.webSocketReceivedBytes();
        httpReceivedBytes = Math.max(httpReceivedBytes, now);
        return httpReceivedBytes;
    }

    /** Returns the bytes sent that are no tunnel's; it never falls either. */
    synchronized long httpSentBytes() {
        long all = get(Count.SENT_BYTES);
        long now = all - tunnels.sentBytes() - tunnels.webSocketSentBytes();
        httpSentBytes = Math.max(httpSentBytes, now);
        return httpSentBytes;
    }

    long requests() {
        return counts.get(BEGUN);
    }

    long requestsActive() {
        long completed = counts.get(COMPLETED);
        return counts.get(BEGUN) - completed;
    }

    /** Returns how many requests got a 5xx from the gateway itself. */
    long handlerErrors() {
        return counts.get(ANSWERED_BY_FAILURE);
    }

    /** Returns how many responses were not delivered whole. */
    long replyErrors() {
        return counts.get(BROKEN_OFF);
    }
}
