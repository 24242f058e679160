package dev.gateway.observe.metrics;

import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.Histogram;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.UpstreamMeters.UpstreamCount;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.HttpVersion;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Names what is counted of upstreams. Those of the active generation have all their counters from the start, with 0, as
 * Prometheus sees no increase in the first sample of a series.
 */
final class UpstreamSource implements Exposition.Source {
    /** Why connections usually cannot be made: their counters are there before it happens. */
    private static final Set<Cause> USUAL_FAILURES =
            EnumSet.of(Cause.DNS_FAILED, Cause.CONNECT_FAILED, Cause.CONNECT_TIMEOUT, Cause.TLS_FAILED);

    private final List<LoopMetrics> loops;
    private final Supplier<List<UpstreamState>> activeConfig;
    private final UpstreamMeters unused = new UpstreamMeters(); // counts nothing

    UpstreamSource(List<LoopMetrics> loops, Supplier<List<UpstreamState>> activeConfig) {
        this.loops = loops;
        this.activeConfig = activeConfig;
    }

    @Override
    public void addTo(Exposition out) {
        activeConfig.get().forEach(upstream -> upstream(out, upstream.name(), unused));
        loops.forEach(loop -> loop.upstreams().forEach((name, meters) -> upstream(out, name, meters)));
    }

    private static void upstream(Exposition out, String name, UpstreamMeters meters) {
        for (HttpVersion version : HttpVersion.values()) {
            for (boolean tls : new boolean[] {false, true}) {
                String[] labels = {"upstream", name, "protocol", MeterSource.protocol(version)};
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
                    MeterSource.protocol(version));
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
        for (CloseCause cause : CloseCause.values()) {
            out.counter(
                    "gateway_upstream_connection_closed",
                    "Connections closed.",
                    meters.closed(cause),
                    "upstream",
                    name,
                    "cause",
                    cause.label());
        }
        meters.violations()
                .forEach((kind, count) -> out.counter(
                        "gateway_upstream_protocol_violations",
                        "Breaches of a protocol by an upstream.",
                        count.get(0),
                        "upstream",
                        name,
                        "kind",
                        kind));
        for (Cause cause : Cause.values()) {
            long failures = meters.connectFailures(cause);
            if (failures > 0 || USUAL_FAILURES.contains(cause)) {
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
                "Time to establish a connection to an endpoint.",
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
                "How long requests waited for a connection.",
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
                "Requests refused because the pending queue was full.",
                meters.get(UpstreamCount.PENDING_OVERFLOW),
                "upstream",
                name);
        out.counter(
                "gateway_upstream_pending_timeout",
                "Requests that timed out waiting for a connection.",
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
        Http2Source.add(out, "upstream", meters);
    }

    private static void attempts(Exposition out, String name, UpstreamMeters meters) {
        long ended = meters.get(UpstreamCount.ATTEMPTS_ENDED);
        out.gauge(
                "gateway_upstream_requests_active",
                "Attempts in progress.",
                meters.get(UpstreamCount.ATTEMPTS_BEGUN) - ended,
                "upstream",
                name);
        for (AttemptKind kind : AttemptKind.values()) {
            for (int codeClass = 0; codeClass < RouteMeters.CODE_CLASSES; codeClass++) {
                String[] labels = {
                    "upstream", name, "code_class", RouteMeters.codeClassLabel(codeClass), "attempt", label(kind)
                };
                out.counter(
                        "gateway_upstream_requests",
                        "Attempts that have ended.",
                        meters.attempts(kind, codeClass),
                        labels);
                Histogram durations = meters.durations(kind, codeClass);
                if (durations != null) {
                    out.histogram(
                            "gateway_upstream_requests_duration_seconds", "Duration of an attempt.", durations, labels);
                }
            }
        }
        String retries = "gateway_upstream_retries";
        String help = "Attempts after the first, and those that the budget forbade.";
        out.counter(retries, help, meters.get(UpstreamCount.RETRIES_SUCCEEDED), "upstream", name, "result", "success");
        out.counter(retries, help, meters.get(UpstreamCount.RETRIES_FAILED), "upstream", name, "result", "failure");
        long forbidden = meters.get(UpstreamCount.RETRIES_OVER_BUDGET);
        out.counter(retries, help, forbidden, "upstream", name, "result", "over_budget");
        for (ConnectWaitResult result : ConnectWaitResult.values()) {
            out.counter(
                    "gateway_upstream_connect_waits",
                    "Requests that waited because no connection could be made.",
                    meters.connectWaits(result),
                    "upstream",
                    name,
                    "result",
                    result.label());
        }
        hedge(out, name, HedgeResult.WON.label(), meters.get(UpstreamCount.HEDGES_WON));
        hedge(out, name, HedgeResult.LOST.label(), meters.get(UpstreamCount.HEDGES_LOST));
        hedge(out, name, HedgeResult.FAILED.label(), meters.get(UpstreamCount.HEDGES_FAILED));
        hedge(out, name, "over_budget", meters.get(UpstreamCount.HEDGES_OVER_BUDGET));
        for (SessionResult result : SessionResult.values()) {
            out.counter(
                    "gateway_upstream_sessions",
                    "Responses of an upstream with sticky sessions, by what became of the session.",
                    meters.sessions(result),
                    "upstream",
                    name,
                    "result",
                    result.label());
        }
        String stale = "gateway_pool_stale";
        String staleHelp = "Kept connections that turned out to be closed.";
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_RETRIED), "upstream", name, "outcome", "retried");
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_FAILED), "upstream", name, "outcome", "failed");
    }

    private static void hedge(Exposition out, String name, String result, long count) {
        out.counter(
                "gateway_upstream_hedges",
                "Attempts beside one that took long, and those that the budget forbade.",
                count,
                "upstream",
                name,
                "result",
                result);
    }

    private static String label(AttemptKind kind) {
        return switch (kind) {
            case FIRST -> "first";
            case RETRY -> "retry";
            case HEDGE -> "hedge";
        };
    }
}
