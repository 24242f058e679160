package dev.gateway.assembly;

import dev.gateway.config.RequestMirrorConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.mirror.MirrorTally;
import dev.gateway.filter.mirror.RequestMirror;
import dev.gateway.observe.metrics.MirrorCounts;
import dev.gateway.process.StartException;
import java.util.concurrent.ThreadLocalRandom;

/** Makes filters that send copies of requests to other upstreams, and reads what they count. */
public final class MirrorFilters {
    private MirrorFilters() {}

    /** Key of the counts of a rule's copies to an upstream. */
    private record Key(String rule, String upstream) {}

    static Filter requestMirror(RequestMirrorConfig config, FilterSite site) throws StartException {
        String name = config.backendRef().name();
        MirrorTally tally = site.states().get(new Key(site.rule(), name), MirrorTally.class, MirrorTally::new);
        RequestMirrorConfig.Fraction share = config.share();
        return new RequestMirror(
                new MirrorTarget(site.upstream(name), tally),
                share.numerator(),
                share.denominator(),
                bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** Reads what has become of copies, by rule and upstream of the active configuration. */
    public static void readMirrored(FilterStates states, MirrorCounts counts) {
        states.forEach(MirrorTally.class, (key, tally) -> {
            if (key instanceof Key of) {
                counts.active(of.rule, of.upstream, tally.active());
                for (MirrorResult result : MirrorResult.values()) {
                    counts.ended(of.rule, of.upstream, result.label(), tally.ended(result));
                }
            }
        });
    }
}
