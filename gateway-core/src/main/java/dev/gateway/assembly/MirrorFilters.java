package dev.gateway.assembly;

import dev.gateway.config.RequestMirrorConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.mirror.MirrorTally;
import dev.gateway.filter.mirror.RequestMirror;
import dev.gateway.observe.metrics.Exposition;
import dev.gateway.process.StartException;
import java.util.concurrent.ThreadLocalRandom;

/** Makes filters that send copies of requests to other upstreams. */
final class MirrorFilters {
    private MirrorFilters() {}

    /** Key of the counts of a rule's copies to an upstream. */
    private record Key(String rule, String upstream) implements FilterStates.CountedKey<MirrorTally> {
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

    static Filter requestMirror(RequestMirrorConfig config, FilterSite site) throws StartException {
        String name = config.backendRef().name();
        MirrorTally tally = site.states().get(new Key(site.rule(), name), MirrorTally::new);
        RequestMirrorConfig.Fraction share = config.share();
        return new RequestMirror(
                new MirrorTarget(site.upstream(name), tally),
                share.numerator(),
                share.denominator(),
                bound -> ThreadLocalRandom.current().nextInt(bound));
    }
}
