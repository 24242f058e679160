package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.state.UpstreamState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Metrics of the active generation's endpoints: a series ends with its endpoint. */
final class EndpointSeries implements Exposition.Source {
    private final List<LoopMetrics> loops;
    private final Supplier<List<UpstreamState>> upstreams;
    private final EndpointSums sums;

    EndpointSeries(List<LoopMetrics> loops, Supplier<List<UpstreamState>> upstreams) {
        this.loops = loops;
        this.upstreams = upstreams;
        this.sums = new EndpointSums(loops);
    }

    @Override
    public void addTo(Exposition out) {
        upstreams.get().forEach(upstream -> sums.of(upstream)
                .forEach((endpoint, sum) -> endpoint(out, upstream.name(), endpoint, sum)));
    }

    private static void endpoint(Exposition out, String upstream, String endpoint, EndpointSums.Sum sum) {
        String[] labels = {"upstream", upstream, "endpoint", endpoint};
        out.counter(
                "gateway_upstream_endpoint_requests", "Attempts at an endpoint that have ended.", sum.requests, labels);
        out.counter(
                "gateway_upstream_endpoint_failures",
                "Of these, those that were not answered, were answered badly, or with 5xx.",
                sum.failures,
                labels);
        out.gauge(
                "gateway_upstream_endpoint_requests_active",
                "Attempts at an endpoint in progress.",
                sum.requestsActive,
                labels);
        out.histogram(
                "gateway_upstream_endpoint_requests_duration_seconds",
                "Duration of an attempt at an endpoint.",
                Histogram.Buckets.ENDPOINT.seconds(),
                sum.buckets,
                sum.seconds,
                labels);
        out.gauge(
                "gateway_upstream_endpoint_connections_active",
                "Pooled connections to an endpoint that are open now.",
                sum.connections,
                labels);
        out.gauge("gateway_upstream_endpoint_connections_idle", "Of these, those without a request.", sum.idle, labels);
    }

    /** Forgets what was counted of endpoints that are gone. */
    void forgetGone() {
        Map<String, Set<String>> addresses = upstreams.get().stream()
                .collect(Collectors.toMap(
                        UpstreamState::name,
                        upstream -> upstream.endpoints().stream()
                                .map(UpstreamState.EndpointState::address)
                                .collect(Collectors.toSet()),
                        (one, other) -> one));
        long now = System.nanoTime();
        for (LoopMetrics loop : loops) {
            loop.upstreams()
                    .forEach((name, meters) -> meters.endpoints.keepOnly(addresses.getOrDefault(name, Set.of()), now));
        }
    }
}
