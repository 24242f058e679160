package dev.gateway.observe;

import dev.gateway.stream.Cause;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What is counted of one listener on one event loop. Only the loop adds to the map; its keys are configured names. */
final class ListenerMeters extends ConnectionMeters {
    private static final int BEGUN = 0;
    private static final int COMPLETED = 1;
    private static final int ANSWERED_BY_FAILURE = 2;
    private static final int BROKEN_OFF = 3;

    private final String name;
    private final Counts counts = new Counts(4);
    private final Map<String, RouteMeters> routes = new ConcurrentHashMap<>();

    ListenerMeters(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    Map<String, RouteMeters> routes() {
        return routes;
    }

    void begun() {
        counts.add(BEGUN, 1);
    }

    void completed(ExchangeRecord exchange) {
        RouteMeters route = routes.get(exchange.route);
        if (route == null) {
            route = new RouteMeters();
            routes.put(exchange.route, route);
        }
        route.completed(exchange);
        if (exchange.cause != null) {
            if (exchange.respondedNanos != 0 && exchange.cause != Cause.RETRY_LIMIT) {
                counts.add(BROKEN_OFF, 1);
            } else if (exchange.status >= 500) {
                counts.add(ANSWERED_BY_FAILURE, 1);
            }
        }
        counts.add(COMPLETED, 1);
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
