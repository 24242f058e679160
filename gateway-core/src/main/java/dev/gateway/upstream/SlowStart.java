package dev.gateway.upstream;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Slow start: an endpoint that joins others gets a tenth of its share of requests first, and from then on more each second,
 * until it has all of it. Joins who is new, well again after failed checks, or back from an ejection; not who was there
 * when the upstream began, for nobody else was. Guarded by its {@link Health}.
 */
final class SlowStart {
    private final long nanos;

    /** Makes it; with 0 nobody starts slowly. */
    SlowStart(long millis) {
        this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Begins with those of the chosen that join the former ones. Who is chosen without being in service does not. */
    void join(List<Endpoint> former, List<Host> chosen, long now) {
        if (nanos == 0) {
            return;
        }
        Set<Endpoint> known = new HashSet<>(former);
        if (chosen.stream().noneMatch(host -> known.contains(host.endpoint()))) {
            return; // there is nobody to share with
        }
        for (Host host : chosen) {
            if (!known.contains(host.endpoint()) && host.isInService()) {
                host.ramp.begin(now);
            }
        }
    }

    /** Begins with an endpoint that the generation before did not have. */
    void begin(Host host, long now) {
        if (nanos > 0) {
            host.ramp.begin(now);
        }
    }

    /** Gives those who are on their way more; returns whether there were any. */
    boolean advance(List<Host> hosts, long now) {
        boolean any = false;
        for (Host host : hosts) {
            any |= host.ramp.advance(nanos, now);
        }
        return any;
    }
}
