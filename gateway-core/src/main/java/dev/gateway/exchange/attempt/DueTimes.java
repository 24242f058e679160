package dev.gateway.exchange.attempt;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Due times: when endpoints may be asked again that have answered one request with {@code Retry-After}. */
public final class DueTimes {
    private final Map<Endpoint, Long> nanos = new HashMap<>();

    /** An endpoint is to get no further attempt before this time. */
    public void put(Endpoint endpoint, long dueNanos) {
        nanos.put(endpoint, dueNanos);
    }

    /** Whether an endpoint may get another attempt now. */
    public boolean isDue(Endpoint endpoint, long now) {
        return leftNanos(endpoint, now) == 0;
    }

    private long leftNanos(Endpoint endpoint, long now) {
        Long due = nanos.get(endpoint);
        return due == null ? 0 : Math.max(0, due - now);
    }

    /**
     * Returns how many milliseconds a request waits for the endpoint that is due first, of those that the balancer may
     * choose. It is 0 if one of them is due already, or if the balancer may choose none.
     */
    public long waitMillis(List<Host> hosts, long now) {
        long least = Long.MAX_VALUE;
        for (Host host : hosts) {
            if (host.isChosen()) {
                least = Math.min(least, leftNanos(host.endpoint(), now));
            }
        }
        return least == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(least);
    }
}
