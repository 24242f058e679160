package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.stream.Cause;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import java.util.List;
import java.util.function.Supplier;

/**
 * Names what is counted of event loops, listeners and routes. Labels are configured names and words of closed sets only. A
 * listener that can have no tunnels, or no TLS handshakes, has no series of them, unless it has counted some before.
 */
final class MeterSource implements Exposition.Source {
    private static final String NO_CAUSE = "";

    private final List<LoopMetrics> loops;
    private final Supplier<ListenerFeatures> features;

    /**
     * Makes it.
     *
     * @param features what listeners of the active configuration can have
     */
    MeterSource(List<LoopMetrics> loops, Supplier<ListenerFeatures> features) {
        this.loops = loops;
        this.features = features;
    }

    @Override
    public void addTo(Exposition out) {
        int index = 0;
        ListenerFeatures on = features.get();
        for (LoopMetrics loop : loops) {
            loop(out, Integer.toString(index++), loop.lag());
            loop.listeners().forEach((name, meters) -> {
                listener(out, name, meters);
                if (on.handshakes().contains(name) || meters.get(Count.HANDSHAKE_FAILED) > 0) {
                    handshakes(out, name, meters);
                }
                tunnelsEnded(out, name, meters.tunnels);
                if (on.tunnels().contains(name) || meters.tunnels.opened() > 0) {
                    tunnels(out, name, meters.tunnels);
                }
            });
        }
    }

    private static void loop(Exposition out, String index, LoopLag lag) {
        out.gauge(
                "gateway_eventloop_lag_seconds",
                "How long tasks had to wait for an event loop, at most in the last ten seconds.",
                lag.seconds(),
                "loop",
                index);
        out.gauge(
                "gateway_eventloop_pending_tasks",
                "Tasks that wait for an event loop.",
                lag.pendingTasks(),
                "loop",
                index);
    }

    static String protocol(HttpVersion version) {
        return switch (version) {
            case HTTP_1_0, HTTP_1_1 -> "http1";
            case HTTP_2 -> "h2";
            case TCP -> "tcp";
        };
    }

    private static void listener(Exposition out, String name, ListenerMeters meters) {
        for (HttpVersion version : HttpVersion.values()) {
            for (boolean tls : new boolean[] {false, true}) {
                String[] labels = {"listener", name, "protocol", protocol(version), "tls", Boolean.toString(tls)};
                out.counter(
                        "gateway_downstream_connections", "Connections accepted.", meters.opened(version, tls), labels);
                out.gauge(
                        "gateway_downstream_connections_active",
                        "Connections open now.",
                        meters.active(version, tls),
                        labels);
            }
        }
        out.gauge(
                "gateway_downstream_requests_active",
                "Exchanges in progress.",
                meters.requestsActive(),
                "listener",
                name);
        TunnelMeters tunnels = meters.tunnels;
        bytes(out, name, "http", meters.httpReceivedBytes(), meters.httpSentBytes());
        bytes(out, name, "websocket", tunnels.webSocketReceivedBytes(), tunnels.webSocketSentBytes());
        closed(
                out,
                "gateway_downstream_connections_refused",
                "Connections over the limit.",
                name,
                meters,
                Count.REFUSED);
        closed(
                out,
                "gateway_downstream_connections_denied",
                "Connections of clients that may not connect, by their addresses.",
                name,
                meters,
                Count.DENIED);
        closed(
                out,
                "gateway_downstream_connections_shed",
                "Connections refused because the process was overloaded.",
                name,
                meters,
                Count.SHED);
        closed(
                out,
                "gateway_downstream_idle_closed",
                "Connections closed for being idle.",
                name,
                meters,
                Count.IDLE_CLOSED);
        closed(
                out,
                "gateway_downstream_accept_pauses",
                "Times when a listener let new clients wait.",
                name,
                meters,
                Count.ACCEPT_PAUSED);
        closed(out, "gateway_downstream_socket_errors", "Sockets that failed.", name, meters, Count.SOCKET_ERROR);
        meters.violations()
                .forEach((kind, count) -> out.counter(
                        "gateway_protocol_violations",
                        "Breaches of a protocol by clients.",
                        count.get(0),
                        "listener",
                        name,
                        "kind",
                        kind));
        meters.routes().forEach((route, counts) -> route(out, name, route, counts));
        Http2Source.add(out, "downstream", meters);
    }

    private static void handshakes(Exposition out, String name, ListenerMeters meters) {
        for (HandshakeFailure reason : HandshakeFailure.values()) {
            out.counter(
                    "gateway_downstream_handshakes_failed",
                    "TLS handshakes that failed.",
                    meters.handshakesFailed(reason),
                    "listener",
                    name,
                    "reason",
                    reason.label());
        }
    }

    private static void bytes(Exposition out, String listener, String kind, long received, long sent) {
        String[] labels = {"listener", listener, "kind", kind};
        out.counter("gateway_downstream_received_bytes", "Bytes received from clients.", received, labels);
        out.counter("gateway_downstream_sent_bytes", "Bytes sent to clients.", sent, labels);
    }

    /** Has only what has occurred: anybody may send a CONNECT to a listener that never has tunnels. */
    private static void tunnelsEnded(Exposition out, String listener, TunnelMeters meters) {
        meters.forEachEnded((denied, cause, count) -> out.counter(
                "gateway_tunnels",
                "Tunnels that have ended, or were requested and not opened.",
                count,
                "listener",
                listener,
                "decision",
                denied ? "denied" : "allowed",
                "cause",
                cause == null ? NO_CAUSE : cause.label()));
    }

    private static void tunnels(Exposition out, String listener, TunnelMeters meters) {
        bytes(out, listener, "tunnel", meters.receivedBytes(), meters.sentBytes());
        out.gauge("gateway_tunnels_active", "Tunnels open now.", meters.active(), "listener", listener);
        String bytes = "gateway_tunnels_bytes";
        String help = "Bytes that went through tunnels.";
        out.counter(bytes, help, meters.receivedBytes(), "listener", listener, "direction", "received");
        out.counter(bytes, help, meters.sentBytes(), "listener", listener, "direction", "sent");
        out.histogram(
                "gateway_tunnels_duration_seconds",
                "How long tunnels were open.",
                meters.durations,
                "listener",
                listener);
    }

    private static void closed(
            Exposition out, String metric, String help, String listener, ListenerMeters meters, Count count) {
        out.counter(metric, help, meters.get(count), "listener", listener);
    }

    private static void route(Exposition out, String listener, String route, RouteMeters meters) {
        meters.requests.forEach((key, count) -> {
            Cause cause = RouteMeters.cause(key);
            out.counter(
                    "gateway_downstream_requests",
                    "Exchanges that have ended.",
                    count,
                    "listener",
                    listener,
                    "route",
                    route,
                    "method",
                    RouteMeters.method(key),
                    "code",
                    Integer.toString(RouteMeters.status(key)),
                    "cause",
                    cause == null ? NO_CAUSE : cause.label());
        });
        if (meters.webSockets() > 0) {
            out.gauge("gateway_websockets_active", "WebSockets open now.", meters.webSocketsActive(), "route", route);
        }
        meters.forEachWebSocketEnded((cause, count) -> out.counter(
                "gateway_websockets",
                "WebSockets that have ended.",
                count,
                "route",
                route,
                "cause",
                cause == null ? NO_CAUSE : cause.label()));
        for (int codeClass = 0; codeClass < meters.durations.length; codeClass++) {
            Histogram durations = meters.durations[codeClass];
            if (durations != null) {
                out.histogram(
                        "gateway_downstream_request_duration_seconds",
                        "From the request's head to the end of the exchange, or until a tunnel opened.",
                        durations,
                        "listener",
                        listener,
                        "route",
                        route,
                        "code_class",
                        RouteMeters.codeClassLabel(codeClass));
            }
        }
    }
}
