package dev.gateway.observe;

import dev.gateway.observe.ConnectionMeters.Count;
import dev.gateway.observe.UpstreamMeters.UpstreamCount;
import dev.gateway.stream.Cause;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import java.util.List;

/** Names what is counted: the one place where counters become metrics and labels. Labels are configured names only. */
final class MeterSource implements Exposition.Source {
    private static final String NO_CAUSE = "";

    private final List<LoopMetrics> loops;

    MeterSource(List<LoopMetrics> loops) {
        this.loops = loops;
    }

    @Override
    public void addTo(Exposition out) {
        int index = 0;
        for (LoopMetrics loop : loops) {
            loop(out, Integer.toString(index++), loop.health());
            loop.listeners().forEach((name, meters) -> listener(out, name, meters));
            loop.upstreams().forEach((name, meters) -> upstream(out, name, meters));
        }
    }

    private static void loop(Exposition out, String index, LoopHealth health) {
        out.gauge(
                "gateway_eventloop_lag_seconds",
                "How long tasks had to wait for an event loop, at most in the last ten seconds.",
                health.lagSeconds(),
                "loop",
                index);
        out.gauge(
                "gateway_eventloop_pending_tasks",
                "Tasks that wait for an event loop.",
                health.pendingTasks(),
                "loop",
                index);
    }

    private static String protocol(HttpVersion version) {
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
        String received = "gateway_downstream_received_bytes";
        String receivedHelp = "Bytes received from clients.";
        out.counter(received, receivedHelp, meters.httpReceivedBytes(), "listener", name, "kind", "http");
        out.counter(received, receivedHelp, tunnels.receivedBytes(), "listener", name, "kind", "tunnel");
        out.counter(received, receivedHelp, tunnels.webSocketReceivedBytes(), "listener", name, "kind", "websocket");
        String sent = "gateway_downstream_sent_bytes";
        String sentHelp = "Bytes sent to clients.";
        out.counter(sent, sentHelp, meters.httpSentBytes(), "listener", name, "kind", "http");
        out.counter(sent, sentHelp, tunnels.sentBytes(), "listener", name, "kind", "tunnel");
        out.counter(sent, sentHelp, tunnels.webSocketSentBytes(), "listener", name, "kind", "websocket");
        tunnels(out, name, tunnels);
        closed(
                out,
                "gateway_downstream_connections_refused",
                "Connections over the limit.",
                name,
                meters,
                Count.REFUSED);
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
        http2(out, "downstream", meters);
    }

    private static void tunnels(Exposition out, String listener, TunnelMeters meters) {
        meters.forEachEnded((denied, cause, count) -> out.counter(
                "gateway_tunnels",
                "Tunnels that have ended, or were asked for and not opened.",
                count,
                "listener",
                listener,
                "decision",
                denied ? "denied" : "allowed",
                "cause",
                cause == null ? NO_CAUSE : cause.label()));
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
                        "From the request's head to the exchange's end, or to a tunnel's begin.",
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

    private static void upstream(Exposition out, String name, UpstreamMeters meters) {
        for (HttpVersion version : HttpVersion.values()) {
            for (boolean tls : new boolean[] {false, true}) {
                String[] labels = {"upstream", name, "protocol", protocol(version)};
                out.counter("gateway_upstream_connections", "Connections made.", meters.opened(version, tls), labels);
                out.gauge(
                        "gateway_upstream_connections_active",
                        "Connections open now.",
                        meters.active(version, tls),
                        labels);
            }
            out.gauge(
                    "gateway_upstream_connections_idle",
                    "Of the open connections, those without a stream.",
                    meters.idle(version),
                    "upstream",
                    name,
                    "protocol",
                    protocol(version));
        }
        out.counter(
                "gateway_upstream_received_bytes",
                "Bytes received from endpoints.",
                meters.get(Count.RECEIVED_BYTES),
                "upstream",
                name);
        out.counter(
                "gateway_upstream_sent_bytes",
                "Bytes sent to endpoints.",
                meters.get(Count.SENT_BYTES),
                "upstream",
                name);
        long idle = meters.get(Count.IDLE_CLOSED);
        String closed = "gateway_upstream_connection_closed";
        String closedHelp = "Connections closed.";
        out.counter(closed, closedHelp, idle, "upstream", name, "cause", Cause.IDLE_TIMEOUT.label());
        out.counter(closed, closedHelp, meters.otherwiseClosed(), "upstream", name, "cause", "other");
        for (Cause cause : Cause.values()) {
            long failures = meters.connectFailures(cause);
            if (failures > 0) {
                out.counter(
                        "gateway_upstream_connect_failures",
                        "Connections that could not be made.",
                        failures,
                        "upstream",
                        name,
                        "cause",
                        cause.label());
            }
        }
        out.histogram(
                "gateway_upstream_connect_duration_seconds",
                "Until a connection was there.",
                meters.connectDurations,
                "upstream",
                name);
        out.histogram(
                "gateway_upstream_tls_duration_seconds",
                "TLS handshakes with endpoints.",
                meters.tlsDurations,
                "upstream",
                name);
        out.histogram(
                "gateway_upstream_pending_duration_seconds",
                "Requests' wait for a connection.",
                meters.pendingDurations,
                "upstream",
                name);
        long pendingEnded = meters.get(UpstreamCount.PENDING_ENDED);
        out.gauge(
                "gateway_upstream_pending_requests",
                "Requests that wait for a connection.",
                meters.get(UpstreamCount.PENDING_BEGUN) - pendingEnded,
                "upstream",
                name);
        out.counter(
                "gateway_upstream_pending_overflow",
                "Requests refused because as many wait as may.",
                meters.get(UpstreamCount.PENDING_OVERFLOW),
                "upstream",
                name);
        out.counter(
                "gateway_upstream_pending_timeout",
                "Requests that waited for as long as they may.",
                meters.get(UpstreamCount.PENDING_TIMEOUT),
                "upstream",
                name);
        String checks = "gateway_upstream_health_checks";
        String checksHelp = "Active checks of endpoints.";
        long good = meters.get(UpstreamCount.CHECKS_SUCCEEDED);
        long bad = meters.get(UpstreamCount.CHECKS_FAILED);
        out.counter(checks, checksHelp, good, "upstream", name, "result", "success");
        out.counter(checks, checksHelp, bad, "upstream", name, "result", "failure");
        attempts(out, name, meters);
        http2(out, "upstream", meters);
    }

    private static void attempts(Exposition out, String name, UpstreamMeters meters) {
        long ended = meters.get(UpstreamCount.ATTEMPTS_ENDED);
        out.gauge(
                "gateway_upstream_requests_active",
                "Attempts in progress.",
                meters.get(UpstreamCount.ATTEMPTS_BEGUN) - ended,
                "upstream",
                name);
        for (boolean retried : new boolean[] {false, true}) {
            for (int codeClass = 0; codeClass < RouteMeters.CODE_CLASSES; codeClass++) {
                Histogram durations = meters.durations(retried, codeClass);
                if (durations != null) {
                    String[] labels = {
                        "upstream",
                        name,
                        "code_class",
                        RouteMeters.codeClassLabel(codeClass),
                        "attempt",
                        retried ? "retry" : "first"
                    };
                    out.counter(
                            "gateway_upstream_requests",
                            "Attempts that have ended.",
                            meters.attempts(retried, codeClass),
                            labels);
                    out.histogram(
                            "gateway_upstream_requests_duration_seconds",
                            "From an attempt's begin to its end.",
                            durations,
                            labels);
                }
            }
        }
        String retries = "gateway_upstream_retries";
        String help = "Attempts after the first.";
        out.counter(retries, help, meters.get(UpstreamCount.RETRIES_SUCCEEDED), "upstream", name, "result", "success");
        out.counter(retries, help, meters.get(UpstreamCount.RETRIES_FAILED), "upstream", name, "result", "failure");
        String stale = "gateway_pool_stale";
        String staleHelp = "Kept connections that turned out to be closed.";
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_RETRIED), "upstream", name, "outcome", "retried");
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_FAILED), "upstream", name, "outcome", "failed");
    }

    private static void http2(Exposition out, String side, ConnectionMeters meters) {
        long closed = meters.get(Count.H2_STREAMS_CLOSED);
        long opened = meters.get(Count.H2_STREAMS_OPENED);
        out.counter("gateway_h2_streams", "HTTP/2 streams opened.", opened, "side", side);
        out.gauge("gateway_h2_streams_active", "HTTP/2 streams open now.", opened - closed, "side", side);
        out.counter(
                "gateway_h2_flow_control_pauses",
                "Times that flow control stopped a stream from writing.",
                meters.get(Count.H2_FLOW_CONTROL_PAUSES),
                "side",
                side);
        out.counter("gateway_h2_flushes", "Flushes of frames.", meters.get(Count.H2_FLUSHES), "side", side);
        frames(
                out,
                "gateway_h2_frames",
                "HTTP/2 frames.",
                side,
                meters,
                Count.H2_FRAMES_RECEIVED,
                Count.H2_FRAMES_SENT);
        frames(
                out,
                "gateway_h2_frame_bytes",
                "Bytes of HTTP/2 frames.",
                side,
                meters,
                Count.H2_FRAME_BYTES_RECEIVED,
                Count.H2_FRAME_BYTES_SENT);
        frames(
                out,
                "gateway_h2_resets",
                "RST_STREAM frames.",
                side,
                meters,
                Count.H2_RESETS_RECEIVED,
                Count.H2_RESETS_SENT);
        frames(
                out,
                "gateway_h2_goaways",
                "GOAWAY frames.",
                side,
                meters,
                Count.H2_GOAWAYS_RECEIVED,
                Count.H2_GOAWAYS_SENT);
        frames(out, "gateway_h2_pings", "PING frames.", side, meters, Count.H2_PINGS_RECEIVED, Count.H2_PINGS_SENT);
        frames(
                out,
                "gateway_h2_window_updates",
                "WINDOW_UPDATE frames.",
                side,
                meters,
                Count.H2_WINDOW_UPDATES_RECEIVED,
                Count.H2_WINDOW_UPDATES_SENT);
    }

    private static void frames(
            Exposition out,
            String name,
            String help,
            String side,
            ConnectionMeters meters,
            Count received,
            Count sent) {
        out.counter(name, help, meters.get(received), "side", side, "direction", "received");
        out.counter(name, help, meters.get(sent), "side", side, "direction", "sent");
    }
}
