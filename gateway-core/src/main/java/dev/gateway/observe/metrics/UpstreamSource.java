package dev.gateway.observe.metrics;

import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.UpstreamMeters.UpstreamCount;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.Feature;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.HttpVersion;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Names what is counted of upstreams. Those of the active generation have the counters of their features from the start,
 * with 0, as Prometheus sees no increase in the first sample of a series. What is off has no series, unless it has counted
 * before.
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
        Map<String, Set<Feature>> features = new HashMap<>();
        activeConfig.get().forEach(upstream -> {
            features.put(upstream.name(), upstream.features());
            upstream(out, upstream.name(), unused, upstream.features());
        });
        loops.forEach(loop -> loop.upstreams()
                .forEach((name, meters) -> upstream(out, name, meters, features.getOrDefault(name, Set.of()))));
    }

    private static Feature feature(HttpVersion version) {
        return switch (version) {
            case HTTP_1_0, HTTP_1_1 -> Feature.HTTP1;
            case HTTP_2 -> Feature.HTTP2;
            case TCP -> Feature.TUNNELS;
        };
    }

    /** Returns what must be on for connections to be closed for that reason; null if nothing must. */
    private static @Nullable Feature feature(CloseCause cause) {
        return switch (cause) {
            case HEALTH_CHECK -> Feature.HEALTH_CHECKS;
            case MAX_LIFETIME -> Feature.MAX_LIFETIME;
            default -> null;
        };
    }

    private static void upstream(Exposition out, String name, UpstreamMeters meters, Set<Feature> on) {
        for (HttpVersion version : HttpVersion.values()) {
            if (!on.contains(feature(version))
                    && meters.opened(version, false) + meters.opened(version, true) + meters.idle(version) == 0) {
                continue;
            }
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
            Feature needed = feature(cause);
            if (needed == null || on.contains(needed) || meters.closed(cause) > 0) {
                out.counter(
                        "gateway_upstream_connection_closed",
                        "Connections closed.",
                        meters.closed(cause),
                        "upstream",
                        name,
                        "cause",
                        cause.label());
            }
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
        if (on.contains(Feature.TLS) || meters.tlsDurations.sumSeconds() > 0) {
            out.histogram(
                    "gateway_upstream_tls_duration_seconds",
                    "TLS handshakes with endpoints.",
                    meters.tlsDurations,
                    "upstream",
                    name);
        }
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
        results(
                out,
                "gateway_upstream_health_checks",
                "Active checks of endpoints.",
                name,
                on.contains(Feature.HEALTH_CHECKS),
                new Result("success", meters.get(UpstreamCount.CHECKS_SUCCEEDED)),
                new Result("failure", meters.get(UpstreamCount.CHECKS_FAILED)));
        attempts(out, name, meters, on);
        Http2Source.add(out, "upstream", meters);
    }

    private record Result(String label, long count) {}

    /** Adds the counters of a feature: none of them if it is off and has counted nothing. */
    private static void results(
            Exposition out, String metric, String help, String upstream, boolean on, Result... results) {
        if (on || Stream.of(results).anyMatch(result -> result.count > 0)) {
            for (Result result : results) {
                out.counter(metric, help, result.count, "upstream", upstream, "result", result.label);
            }
        }
    }

    private static boolean has(Set<Feature> on, AttemptKind kind) {
        return switch (kind) {
            case FIRST -> true;
            case RETRY -> on.contains(Feature.RETRIES) || on.contains(Feature.CONNECT_WAITS);
            case HEDGE -> on.contains(Feature.HEDGES);
        };
    }

    private static void attempts(Exposition out, String name, UpstreamMeters meters, Set<Feature> on) {
        long ended = meters.get(UpstreamCount.ATTEMPTS_ENDED);
        out.gauge(
                "gateway_upstream_requests_active",
                "Attempts in progress.",
                meters.get(UpstreamCount.ATTEMPTS_BEGUN) - ended,
                "upstream",
                name);
        for (AttemptKind kind : AttemptKind.values()) {
            for (int codeClass = 0; codeClass < RouteMeters.CODE_CLASSES; codeClass++) {
                if (!has(on, kind) && meters.attempts(kind, codeClass) == 0) {
                    continue;
                }
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
        results(
                out,
                "gateway_upstream_retries",
                "Attempts after the first, and those that the budget forbade.",
                name,
                has(on, AttemptKind.RETRY),
                new Result("success", meters.get(UpstreamCount.RETRIES_SUCCEEDED)),
                new Result("failure", meters.get(UpstreamCount.RETRIES_FAILED)),
                new Result("over_budget", meters.get(UpstreamCount.RETRIES_OVER_BUDGET)));
        results(
                out,
                "gateway_upstream_connect_waits",
                "Requests that waited because no connection could be made.",
                name,
                on.contains(Feature.CONNECT_WAITS),
                Stream.of(ConnectWaitResult.values())
                        .map(result -> new Result(result.label(), meters.connectWaits(result)))
                        .toArray(Result[]::new));
        results(
                out,
                "gateway_upstream_hedges",
                "Attempts beside one that took long, and those that the budget forbade.",
                name,
                on.contains(Feature.HEDGES),
                new Result(HedgeResult.WON.label(), meters.get(UpstreamCount.HEDGES_WON)),
                new Result(HedgeResult.LOST.label(), meters.get(UpstreamCount.HEDGES_LOST)),
                new Result(HedgeResult.FAILED.label(), meters.get(UpstreamCount.HEDGES_FAILED)),
                new Result("over_budget", meters.get(UpstreamCount.HEDGES_OVER_BUDGET)));
        results(
                out,
                "gateway_upstream_sessions",
                "Responses of an upstream with sticky sessions, by what became of the session.",
                name,
                on.contains(Feature.SESSIONS),
                Stream.of(SessionResult.values())
                        .map(result -> new Result(result.label(), meters.sessions(result)))
                        .toArray(Result[]::new));
        String stale = "gateway_pool_stale";
        String staleHelp = "Kept connections that turned out to be closed.";
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_RETRIED), "upstream", name, "outcome", "retried");
        out.counter(stale, staleHelp, meters.get(UpstreamCount.STALE_FAILED), "upstream", name, "outcome", "failed");
    }

    private static String label(AttemptKind kind) {
        return switch (kind) {
            case FIRST -> "first";
            case RETRY -> "retry";
            case HEDGE -> "hedge";
        };
    }
}
