package dev.gateway.runtime;

import dev.gateway.overload.StalledPeers;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import dev.gateway.upstream.pool.PoolCounts;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps clients that read nothing from using up an upstream. While requests wait for a connection of the upstream, stalled
 * responses of one client keep at most half of its connections busy: those that have stalled for the longest time are ended.
 * Only for upstreams that need a connection for each response. One thread reviews it each second.
 */
final class StalledClients {
    private static final long PATIENCE_NANOS = 1_000_000_000L;

    private static final Logger log = LoggerFactory.getLogger(StalledClients.class);

    private final List<? extends Executor> loops;
    private final long patienceNanos;
    private Set<Upstream> crowded = Set.of(); // requests waited for these at the last review

    StalledClients(List<? extends Executor> loops) {
        this(loops, PATIENCE_NANOS);
    }

    /** Makes one that gives clients this time to read. */
    StalledClients(List<? extends Executor> loops, long patienceNanos) {
        this.loops = loops;
        this.patienceNanos = patienceNanos;
    }

    /** Checks the upstreams. One for which requests wait twice in a row is crowded. */
    void review(Map<Upstream, PoolCounts> upstreams) {
        Set<Upstream> now = new HashSet<>();
        upstreams.forEach((upstream, counts) -> {
            Protocol protocol = upstream.settings().protocol();
            if (counts.pending() > 0 && protocol != Protocol.H2 && protocol != Protocol.H2C) {
                now.add(upstream);
                if (crowded.contains(upstream)) {
                    relieve(upstream, counts.active());
                }
            }
        });
        crowded = now;
    }

    private void relieve(Upstream upstream, int connections) {
        Map<Object, Integer> stalled = new ConcurrentHashMap<>();
        CompletableFuture<?>[] counted = loops.stream()
                .map(loop -> CompletableFuture.runAsync(
                        () -> StalledPeers.ofThisLoop().count(upstream, patienceNanos, stalled), loop))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(counted).thenRun(() -> cut(upstream, connections, stalled));
    }

    private void cut(Upstream upstream, int connections, Map<Object, Integer> stalled) {
        int all = stalled.values().stream().mapToInt(Integer::intValue).sum();
        if (all > connections) {
            return; // they share connections
        }
        int most = Math.max(1, connections / 2);
        stalled.forEach((client, count) -> {
            if (count > most) {
                log.warn(
                        "upstream {}: requests wait, and a client that reads nothing has {} of {} connections; ending {}"
                                + " responses",
                        upstream,
                        count,
                        connections,
                        count - most);
                AtomicInteger excess = new AtomicInteger(count - most);
                loops.forEach(loop -> loop.execute(() -> StalledPeers.ofThisLoop()
                        .cut(upstream, client, patienceNanos, () -> excess.getAndDecrement() > 0)));
            }
        });
    }
}
