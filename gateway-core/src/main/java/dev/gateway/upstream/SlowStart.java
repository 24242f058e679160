package dev.gateway.upstream;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Slow start: an endpoint that joins others first gets a tenth of its share of requests, then more each second, until it
 * has all of it. An endpoint joins if it is new, healthy again after failed checks, or back from an ejection. The first
 * endpoints of an upstream do not, since no others could take their requests. Guarded by its {@link Health}.
 */
final class SlowStart {
    private final long nanos;

    /** Makes it; 0 means no slow start. */
    SlowStart(long millis) {
        this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /**
     * Begins slow starts of chosen endpoints that were not chosen before. Those not in service (panic mode) do not start
     * slowly.
     */
    void join(List<Endpoint> former, List<Host> chosen, long now) {
        if (nanos == 0) {
            return;
        }
        Set<Endpoint.Address> known = former.stream().map(Endpoint::address).collect(Collectors.toSet());
        if (chosen.stream().noneMatch(host -> known.contains(host.endpoint().address()))) {
            return; // no other endpoint could take the rest
        }
        for (Host host : chosen) {
            if (!known.contains(host.endpoint().address()) && host.isInService()) {
                host.ramp.begin(now);
            }
        }
    }

    /** Begins the slow start of an endpoint that the previous generation did not have. */
    void begin(Host host, long now) {
        if (nanos > 0) {
            host.ramp.begin(now);
        }
    }

    /** Raises the shares of endpoints that start slowly; returns whether there were any. */
    boolean advance(List<Host> hosts, long now) {
        boolean any = false;
        for (Host host : hosts) {
            any |= host.ramp.advance(nanos, now);
        }
        return any;
    }
}
