package dev.gateway.observe.metrics;

import dev.gateway.format.JsonText;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.UpstreamMeters.UpstreamCount;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.stream.HttpVersion;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Statistics of the active generation's upstreams: the sums of all event loops. */
final class UpstreamStatistics {
    private final List<LoopMetrics> loops;
    private final List<UpstreamState> states;
    private final RecentRequests.Window window;
    private final JsonText json;

    UpstreamStatistics(
            List<LoopMetrics> loops, List<UpstreamState> states, RecentRequests.Window window, JsonText json) {
        this.loops = loops;
        this.window = window;
        this.states = states;
        this.json = json;
    }

    void write() {
        json.array("upstreams");
        states.stream().sorted(Comparator.comparing(UpstreamState::name)).forEach(state -> {
            json.object()
                    .put("name", state.name())
                    .put("protocol", state.protocol())
                    .put("panic", state.panic() ? 1 : 0)
                    .put("namedByRequests", state.namedByRequests());
            json.array("sources");
            state.sources().forEach(source -> json.object()
                    .put("source", source.name())
                    .put("state", source.state())
                    .put("problem", source.problem())
                    .endObject());
            json.endArray();
            upstream(state.name());
            int[] recent = window.of(RecentRequests.Key.ofUpstream(state.name()));
            RecentStatistics.of(recent == null ? new int[FineHistogram.BUCKETS] : recent)
                    .write(json, "recent");
            json.array("endpoints");
            Map<String, EndpointSums.Sum> sums = new EndpointSums(loops).of(state);
            state.endpoints().forEach(endpoint -> endpoint(endpoint, sums.get(endpoint.address())));
            json.endArray().endObject();
        });
        json.endArray();
    }

    private void upstream(String name) {
        long opened = 0;
        long active = 0;
        long idle = 0;
        long[] counts = new long[UpstreamCount.values().length];
        long[] buckets = new long[Histogram.Buckets.REQUEST.count()];
        double seconds = 0;
        Map<String, Long> codes = new TreeMap<>();
        Map<String, Long> failures = new TreeMap<>();
        long received = 0;
        long sent = 0;
        for (LoopMetrics loop : loops) {
            UpstreamMeters meters = loop.upstreams().get(name);
            if (meters == null) {
                continue;
            }
            for (HttpVersion version : HttpVersion.values()) {
                opened += meters.opened(version, false) + meters.opened(version, true);
                active += meters.active(version, false) + meters.active(version, true);
                idle += meters.idle(version);
            }
            meters.addTo(counts);
            seconds += meters.addDurationsTo(buckets);
            meters.addCodesTo(codes);
            meters.addConnectFailuresTo(failures);
            received += meters.get(Count.RECEIVED_BYTES);
            sent += meters.get(Count.SENT_BYTES);
        }
        json.object("connections")
                .put("total", opened)
                .put("active", active)
                .put("idle", idle)
                .put("failures", failures)
                .endObject();
        attempts(counts);
        json.put("codes", codes);
        json.object("latency")
                .put("sumSeconds", seconds)
                .put("buckets", buckets)
                .endObject();
        json.put("receivedBytes", received);
        json.put("sentBytes", sent);
    }

    @SuppressWarnings("EnumOrdinal")
    private void attempts(long[] counts) {
        long begun = counts[UpstreamCount.ATTEMPTS_BEGUN.ordinal()];
        json.object("attempts")
                .put("total", begun)
                .put("active", begun - counts[UpstreamCount.ATTEMPTS_ENDED.ordinal()])
                .put("failed", counts[UpstreamCount.ATTEMPTS_FAILED.ordinal()])
                .put("retriesSucceeded", counts[UpstreamCount.RETRIES_SUCCEEDED.ordinal()])
                .put("retriesFailed", counts[UpstreamCount.RETRIES_FAILED.ordinal()])
                .put("staleRetried", counts[UpstreamCount.STALE_RETRIED.ordinal()])
                .put("staleFailed", counts[UpstreamCount.STALE_FAILED.ordinal()])
                .endObject();
        json.object("pending")
                .put("total", counts[UpstreamCount.PENDING_BEGUN.ordinal()])
                .put(
                        "active",
                        counts[UpstreamCount.PENDING_BEGUN.ordinal()] - counts[UpstreamCount.PENDING_ENDED.ordinal()])
                .put("overflow", counts[UpstreamCount.PENDING_OVERFLOW.ordinal()])
                .put("timeout", counts[UpstreamCount.PENDING_TIMEOUT.ordinal()])
                .endObject();
    }

    /** Writes an endpoint; only the first ones of an upstream have counters of their own. */
    private void endpoint(EndpointState endpoint, EndpointSums.@Nullable Sum sum) {
        json.object().put("address", endpoint.address());
        if (endpoint.weight() == Math.rint(endpoint.weight())) {
            json.put("weight", (long) endpoint.weight());
        } else {
            json.put("weight", endpoint.weight()); // it is one that several endpoints have together
        }
        json.put("state", endpoint.state())
                .put("ejections", endpoint.ejections())
                .put("idle", endpoint.idle())
                .put("active", endpoint.active())
                .put("connecting", endpoint.connecting())
                .put("pending", endpoint.pending());
        if (sum != null) {
            json.put("requests", sum.requests)
                    .put("failures", sum.failures)
                    .put("requestsActive", sum.requestsActive)
                    .put("requestSeconds", sum.seconds);
        }
        json.endObject();
    }
}
