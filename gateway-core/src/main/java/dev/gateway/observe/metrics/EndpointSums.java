package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.EndpointCounts;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.observe.counts.EndpointsOfLoop;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What all event loops have counted of the endpoints of an upstream, by the label that metrics have for each. */
final class EndpointSums {
    /** The label of all endpoints that have no counters of their own. */
    static final String OTHER = "other";

    private final List<LoopMetrics> loops;

    EndpointSums(List<LoopMetrics> loops) {
        this.loops = loops;
    }

    /** The sum of one endpoint, or of all others. */
    static final class Sum {
        final long[] buckets = new long[Histogram.Buckets.ENDPOINT.count()];
        double seconds;
        long requests;
        long failures;
        long requestsActive;
        long connections; // pooled: with a stream or without
        long idle;

        private void add(@Nullable EndpointMeters meters) {
            if (meters != null) {
                meters.durations.addTo(buckets);
                seconds += meters.durations.sumSeconds();
                requests += meters.requests();
                failures += meters.failures();
                requestsActive += meters.active();
            }
        }
    }

    /** Returns the sums of an upstream's endpoints in their order; {@link #OTHER} is there if there are more than have their own. */
    Map<String, Sum> of(UpstreamState upstream) {
        Map<String, Sum> sums = new LinkedHashMap<>();
        for (EndpointState endpoint : upstream.endpoints()) {
            String label = endpoint.index() < EndpointsOfLoop.MOST ? endpoint.address() : OTHER;
            Sum sum = sums.get(label);
            if (sum == null) {
                sum = sum(upstream.name(), label);
                sums.put(label, sum);
            }
            sum.connections += endpoint.idle() + endpoint.active();
            sum.idle += endpoint.idle();
        }
        return sums;
    }

    /** Returns what was counted of one endpoint. */
    EndpointCounts of(String upstream, String address) {
        Sum sum = sum(upstream, address);
        return new EndpointCounts(sum.requests, sum.failures, sum.requestsActive, sum.seconds);
    }

    private Sum sum(String upstream, String label) {
        Sum sum = new Sum();
        for (LoopMetrics loop : loops) {
            UpstreamMeters meters = loop.upstreams().get(upstream);
            if (meters != null) {
                sum.add(label.equals(OTHER) ? meters.endpoints.others() : meters.endpoints.of(label));
            }
        }
        return sum;
    }
}
