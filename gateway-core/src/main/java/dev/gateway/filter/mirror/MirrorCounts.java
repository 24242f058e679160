package dev.gateway.filter.mirror;

import dev.gateway.filter.FilterStates;
import dev.gateway.filter.MirrorResult;
import dev.gateway.observe.metrics.Exposition;

/** Key of the counts of a rule's copies to an upstream. */
record MirrorCounts(String rule, String upstream) implements FilterStates.CountedKey<MirrorTally> {
    @Override
    public Class<MirrorTally> kind() {
        return MirrorTally.class;
    }

    @Override
    public void addTo(Exposition out, MirrorTally counts) {
        out.gauge(
                "gateway_mirror_requests_active",
                "Copies of requests that are being sent, or wait for an answer.",
                counts.active(),
                "route",
                rule,
                "upstream",
                upstream);
        for (MirrorResult result : MirrorResult.values()) {
            out.counter(
                    "gateway_mirror_requests",
                    "Copies of requests that have ended, by what became of them.",
                    counts.ended(result),
                    "route",
                    rule,
                    "upstream",
                    upstream,
                    "result",
                    result.label());
        }
    }
}
