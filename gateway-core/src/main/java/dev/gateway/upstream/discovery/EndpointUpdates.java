package dev.gateway.upstream.discovery;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.pool.Pools;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Endpoint update: gives upstreams other endpoints, and ends what is left of those that have gone when the drain timeout
 * is over. Used by the thread that reloads.
 */
final class EndpointUpdates {
    private static final Logger log = LoggerFactory.getLogger(EndpointUpdates.class);
    private static final int NAMED = 10;

    private final Pools pools;
    private final ScheduledExecutorService thread;

    EndpointUpdates(Pools pools, ScheduledExecutorService thread) {
        this.pools = pools;
        this.thread = thread;
    }

    /**
     * Makes these the endpoints of an upstream.
     *
     * @param begins whether the upstream begins, so that no endpoint starts slowly
     */
    void update(Upstream upstream, List<EndpointSpec> wanted, boolean begins, long drainNanos) {
        Set<Host> before = new HashSet<>(upstream.hosts());
        List<Host> gone = begins ? upstream.begin(wanted) : upstream.update(wanted);
        List<Host> come =
                upstream.hosts().stream().filter(host -> !before.contains(host)).toList();
        if (!gone.isEmpty()) {
            thread.schedule(() -> pools.end(upstream, gone), drainNanos, TimeUnit.NANOSECONDS);
        }
        if (!gone.isEmpty() || !come.isEmpty()) {
            log.info(
                    "Upstream {} has {} endpoints; new: {}; gone: {}",
                    upstream,
                    upstream.endpoints().size(),
                    names(come),
                    names(gone));
        }
    }

    private static String names(List<Host> hosts) {
        String first = hosts.stream()
                .limit(NAMED)
                .map(Host::endpoint)
                .map(Endpoint::toString)
                .collect(Collectors.joining(", "));
        int more = hosts.size() - NAMED;
        return hosts.isEmpty() ? "none" : more > 0 ? first + " and " + more + " more" : first;
    }
}
