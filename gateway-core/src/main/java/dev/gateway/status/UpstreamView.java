package dev.gateway.status;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.jwt.KeySets;
import dev.gateway.observe.counts.EndpointCounts;
import dev.gateway.runtime.DataPlane;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.EndpointFeeds;
import dev.gateway.upstream.discovery.SourceState;
import dev.gateway.upstream.pool.LoopView;
import dev.gateway.upstream.pool.PoolCounts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * What the admin listener shows of upstreams: endpoints, and their connections by event loop. Each loop reports its
 * own.
 */
final class UpstreamView {
    private final ActiveConfig current;
    private final DataPlane dataPlane;
    private final EndpointFeeds feeds;
    private final FilterStates states;

    UpstreamView(ActiveConfig current, DataPlane dataPlane, EndpointFeeds feeds, FilterStates states) {
        this.current = current;
        this.dataPlane = dataPlane;
        this.feeds = feeds;
        this.states = states;
    }

    CompletableFuture<Map<String, Object>> all() {
        Map<String, String> places = new LinkedHashMap<>();
        Map<String, String> policies = new LinkedHashMap<>();
        for (UpstreamConfig each : current.config.upstreams()) {
            places.put(each.name(), each.position().toString());
            policies.put(each.name(), each.loadBalancer().policy());
        }
        current.config
                .connect()
                .forEach(each -> places.put(each.name(), each.position().toString()));
        Map<Upstream, List<CompletableFuture<LoopView>>> parts = new LinkedHashMap<>();
        for (Upstream upstream : current.snapshot.upstreams()) {
            parts.put(upstream, dataPlane.pools().view(upstream));
        }
        return CompletableFuture.allOf(
                        parts.values().stream().flatMap(List::stream).toArray(CompletableFuture<?>[]::new))
                .thenApplyAsync(
                        done -> json(parts, places, policies),
                        dataPlane.adminWork().pages());
    }

    private Map<String, Object> json(
            Map<Upstream, List<CompletableFuture<LoopView>>> parts,
            Map<String, String> places,
            Map<String, String> policies) {
        List<Map<String, Object>> upstreams = new ArrayList<>();
        parts.forEach((upstream, views) -> {
            Map<String, Object> view = new LinkedHashMap<>();
            view.put("name", upstream.name());
            view.put("at", places.getOrDefault(upstream.name(), ""));
            if (policies.containsKey(upstream.name())) {
                view.put("loadBalancer", policies.get(upstream.name()));
            }
            SessionPersistence sessions = upstream.sessions();
            if (sessions != null) {
                view.put("sessionName", sessions.cookie());
            }
            view.put(
                    "sources",
                    feeds.sources(upstream.name()).stream()
                            .map(UpstreamView::view)
                            .toList());
            List<KeySets.View> keySets = KeySets.from(upstream.name(), states);
            if (!keySets.isEmpty()) {
                view.put("at", keySets.get(0).at());
                view.put("keySets", keySets.stream().map(UpstreamView::view).toList());
            }
            view.putAll(
                    view(upstream, views.stream().map(CompletableFuture::join).toList()));
            upstreams.add(view);
        });
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("generation", current.snapshot.generation());
        json.put("upstreams", upstreams);
        return json;
    }

    private static Map<String, Object> view(SourceState source) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("source", source.source());
        json.put("at", source.at());
        json.put("state", source.status().state().label());
        json.put("endpoints", source.endpoints());
        putFreshness(json, source.status());
        return json;
    }

    private static Map<String, Object> view(KeySets.View set) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("url", set.url());
        json.put("at", set.at());
        json.put("state", set.status().state().label());
        json.put("keys", set.keys());
        putFreshness(json, set.status());
        return json;
    }

    private static void putFreshness(Map<String, Object> json, SourceStatus status) {
        if (status.ageNanos() >= 0) {
            json.put("ageSeconds", seconds(status.ageNanos()));
        }
        if (status.isStale()) {
            json.put("staleSeconds", seconds(status.staleNanos()));
            json.put("problem", status.problem());
        }
    }

    private static double seconds(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) / 1000.0;
    }

    private Map<String, Object> view(Upstream upstream, List<LoopView> views) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("protocol", upstream.settings().protocol().name().toLowerCase(Locale.ROOT));
        json.put("tls", upstream.settings().tls() != null);
        Map<String, Object> limits = new LinkedHashMap<>();
        limits.put(
                "connections",
                limit(
                        upstream.connections().taken(),
                        upstream.settings().limits().maxConnections()));
        limits.put(
                "pendingRequests",
                limit(
                        upstream.pendingRequests().taken(),
                        upstream.settings().limits().maxPendingRequests()));
        limits.put(
                "requests",
                limit(upstream.requests().taken(), upstream.settings().limits().maxRequests()));
        json.put("limits", limits);
        json.put("waitingBytes", upstream.waiting().held());
        json.put("panic", upstream.health().isPanic());
        Double local = upstream.health().localShare();
        if (local != null) {
            json.put("localZonePercent", Math.round(local * 1000) / 10.0);
        }
        Map<String, Integer> active = dataPlane.pools().requestsActive(upstream.name());
        List<Map<Endpoint, LoopView.EndpointView>> loops =
                views.stream().map(UpstreamView::byEndpoint).toList();
        List<Map<String, Object>> endpoints = new ArrayList<>();
        for (Host host : upstream.hosts()) {
            Endpoint endpoint = host.endpoint();
            Map<String, Object> view = view(upstream, host, loops);
            EndpointCounts counts =
                    dataPlane.metrics().endpoint(upstream.name(), endpoint.index(), endpoint.toString());
            view.put("requestsActive", counts == null ? active.getOrDefault(endpoint.toString(), 0) : counts.active());
            if (counts != null) {
                view.put("requests", counts.requests());
                view.put("failures", counts.failures());
                view.put("requestSeconds", counts.seconds());
            }
            endpoints.add(view);
        }
        json.put("endpoints", endpoints);
        Map<String, Object> named = counts(sum(views, LoopView::toNamed));
        named.put("endpoints", views.stream().mapToInt(LoopView::named).sum());
        json.put("namedByRequests", named);
        json.put("tunnels", counts(sum(views, LoopView::tunnels)));
        return json;
    }

    private static PoolCounts sum(List<LoopView> views, Function<LoopView, PoolCounts> part) {
        return views.stream().map(part).reduce(PoolCounts.NONE, PoolCounts::plus);
    }

    private static Map<Endpoint, LoopView.EndpointView> byEndpoint(LoopView view) {
        Map<Endpoint, LoopView.EndpointView> found = new HashMap<>();
        view.endpoints().forEach(each -> found.put(each.endpoint(), each));
        return found;
    }

    private static Map<String, Object> view(
            Upstream upstream, Host host, List<Map<Endpoint, LoopView.EndpointView>> loops) {
        Endpoint endpoint = host.endpoint();
        List<Map<String, Object>> byLoop = new ArrayList<>();
        PoolCounts total = PoolCounts.NONE;
        HttpVersion learned = null;
        LoopView.IdleTimeout idleTimeout = null;
        for (Map<Endpoint, LoopView.EndpointView> loop : loops) {
            LoopView.EndpointView view = loop.get(endpoint);
            PoolCounts here = view == null ? PoolCounts.NONE : view.counts();
            if (view != null) {
                learned = learned == null ? view.learned() : learned;
                idleTimeout = view.idleTimeout(); // the same on all loops
            }
            total = total.plus(here);
            byLoop.add(counts(here));
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("endpoint", endpoint.toString());
        json.put("weight", weight(host.weight()));
        if (endpoint.zone() != null) {
            json.put("zone", endpoint.zone());
        }
        json.put("source", host.spec().source());
        Health.Report health = upstream.health().report(endpoint);
        json.put("state", health.state().label());
        if (upstream.health().detectsOutliers()) {
            json.put("failuresInARow", health.failures());
            json.put("ejections", health.ejections());
        }
        putLive(json, host);
        if (health.failedCheck() != null) {
            json.put("failedCheck", health.failedCheck());
        }
        if (health.ejectedMillis() > 0) {
            json.put("ejectedForSeconds", health.ejectedMillis() / 1000.0);
        }
        if (health.sessionsMillis() > 0) {
            json.put("sessionsForSeconds", health.sessionsMillis() / 1000.0);
        }
        if (learned != null) {
            json.put("speaks", learned.text().toString());
        }
        if (idleTimeout != null) {
            json.put("idleTimeout", json(idleTimeout));
        }
        json.putAll(counts(total));
        json.put("loops", byLoop);
        return json;
    }

    /** A weight that several endpoints have together need not be whole. */
    private static Number weight(double weight) {
        return weight == Math.rint(weight) ? (Number) (long) weight : (Number) (Math.rint(weight * 1000) / 1000);
    }

    /** Adds what is known of an endpoint at times. */
    private static void putLive(Map<String, Object> json, Host host) {
        if (host.slowStart() < 1) {
            json.put("slowStartPercent", Math.round(host.slowStart() * 100));
        }
        if (!Double.isNaN(host.successRate())) {
            json.put("successPercent", Math.round(host.successRate() * 1000) / 10.0);
        }
    }

    private static Map<String, Object> json(LoopView.IdleTimeout idleTimeout) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("millis", idleTimeout.millis());
        json.put("from", idleTimeout.isSaid() ? "header" : "closes");
        json.put("keptMillis", idleTimeout.keptMillis());
        return json;
    }

    private static Map<String, Object> limit(int used, int most) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("used", Math.max(0, used));
        json.put("max", most);
        return json;
    }

    private static Map<String, Object> counts(PoolCounts of) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("inUse", of.active());
        json.put("idle", of.idle());
        json.put("connecting", of.connecting());
        json.put("pending", of.pending());
        return json;
    }
}
