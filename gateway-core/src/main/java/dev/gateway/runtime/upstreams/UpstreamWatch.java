package dev.gateway.runtime.upstreams;

import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.discovery.EndpointFeeds;
import dev.gateway.upstream.discovery.SourceState;
import dev.gateway.upstream.pool.PoolCounts;
import dev.gateway.upstream.pool.Pools;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Upstream statistics: connections and requests of upstreams. Event loops are asked for their pools each second, so
 * that any thread gets an answer at once, also when a loop is slow to give one.
 */
public final class UpstreamWatch {
    private final Pools pools;
    private final EndpointFeeds feeds;
    private final Supplier<@Nullable ActiveConfig> activeConfig;
    private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);
    private volatile Map<Host, PoolCounts> counts = Map.of();
    private volatile @Nullable UpstreamFeatures features; // of the generation that was active last

    /** Makes it for the upstreams of the active configuration. */
    public UpstreamWatch(Pools pools, EndpointFeeds feeds, Supplier<@Nullable ActiveConfig> activeConfig) {
        this.pools = pools;
        this.feeds = feeds;
        this.activeConfig = activeConfig;
    }

    /** Begins to ask, on a thread that is not an event loop's. */
    public void start(ScheduledExecutorService executor, CrowdedUpstreams crowded) {
        executor.scheduleWithFixedDelay(() -> ask(executor, crowded), 0, 1, TimeUnit.SECONDS);
    }

    private void ask(ScheduledExecutorService executor, CrowdedUpstreams crowded) {
        if (asked.isDone()) {
            asked = pools.countsByEndpoint(executor).thenAccept(answer -> counts = answer);
        }
        ActiveConfig current = activeConfig.get();
        crowded.review(current == null ? List.of() : current.snapshot.upstreams());
    }

    /** Returns the upstreams of the active generation. */
    public List<UpstreamState> states() {
        ActiveConfig current = activeConfig.get();
        if (current == null) {
            return List.of();
        }
        UpstreamFeatures features = features(current);
        return current.snapshot.upstreams().stream()
                .map(upstream -> state(upstream, features))
                .toList();
    }

    /** Looks at all rules once for each generation. */
    @SuppressWarnings("ReferenceEquality") // a reload makes another object, and all of it would take long to compare
    private UpstreamFeatures features(ActiveConfig current) {
        UpstreamFeatures known = features;
        if (known == null || known.config() != current.config) {
            known = UpstreamFeatures.of(current.config);
            features = known;
        }
        return known;
    }

    private UpstreamState state(Upstream upstream, UpstreamFeatures features) {
        List<EndpointState> endpoints = new ArrayList<>();
        for (Host host : upstream.hosts()) {
            Endpoint endpoint = host.endpoint();
            PoolCounts count = counts.getOrDefault(host, PoolCounts.NONE);
            Health.Report health = upstream.health().report(endpoint);
            endpoints.add(new EndpointState(
                    endpoint.index(),
                    endpoint.toString(),
                    host.weight(),
                    health.state().label(),
                    health.ejections(),
                    count.idle(),
                    count.active(),
                    count.connecting(),
                    count.pending()));
        }
        return new UpstreamState(
                upstream.name(),
                upstream.settings().protocol().name().toLowerCase(Locale.ROOT),
                endpoints,
                feeds.sources(upstream.name()).stream()
                        .map(UpstreamWatch::source)
                        .toList(),
                upstream.health().isPanic(),
                upstream.health().localShare(),
                upstream.balancer() instanceof NamedByRequest,
                features.of(upstream));
    }

    private static UpstreamState.Source source(SourceState source) {
        return new UpstreamState.Source(
                source.source(),
                source.kind(),
                source.status().state().label(),
                source.status().problem());
    }
}
