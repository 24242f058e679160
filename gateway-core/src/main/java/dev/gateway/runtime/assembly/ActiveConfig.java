package dev.gateway.runtime.assembly;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.connect.assembly.ConnectAssembly;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The active configuration, and the generation that was made of it. Immutable. */
public final class ActiveConfig {
    public final GatewayConfig config;
    public final Generation snapshot;
    private final Map<String, UpstreamConfig> configured = new HashMap<>();
    private final Map<String, Upstream> upstreams = new HashMap<>();
    private final Map<String, ConnectConfig> connect = new HashMap<>();
    private final ListenerFeatures listenerFeatures;

    /** Joins a configuration to the generation that was made of it. */
    public ActiveConfig(GatewayConfig config, Generation snapshot) {
        this.config = config;
        this.snapshot = snapshot;
        config.upstreams().forEach(each -> configured.put(each.name(), each));
        config.connect().forEach(each -> connect.put(each.name(), each));
        // Others come after them. Those of connect lead wherever a request says, and must never stand in for another.
        List<Upstream> own = snapshot.upstreams().subList(0, config.upstreams().size());
        own.forEach(each -> upstreams.put(each.name(), each));
        listenerFeatures = new ListenerFeatures(
                tunnelListeners(config),
                config.listeners().stream()
                        .filter(each -> each.protocols().protocol() == ListenerConfig.Protocol.HTTPS)
                        .map(ListenerConfig::name)
                        .collect(Collectors.toSet()));
    }

    /** Returns the names that its metrics have. */
    public ConfiguredNames names() {
        Set<String> routes = new HashSet<>();
        for (RouteConfig route : config.routes()) {
            for (int rule = 0; rule < route.rules().size(); rule++) {
                routes.add(route.ruleName(rule));
            }
        }
        for (ConnectConfig entry : config.connect()) {
            routes.add(entry.name());
            routes.add(ConnectAssembly.pageName(entry));
        }
        return new ConfiguredNames(
                config.listeners().stream().map(ListenerConfig::name).collect(Collectors.toSet()),
                routes,
                snapshot.upstreams().stream().map(Upstream::name).collect(Collectors.toSet()));
    }

    /** Returns which listeners have metrics that others lack. */
    public ListenerFeatures listenerFeatures() {
        return listenerFeatures;
    }

    private static Set<String> tunnelListeners(GatewayConfig config) {
        Set<String> names = new HashSet<>();
        config.connect().forEach(entry -> entry.parentRefs().forEach(ref -> names.add(ref.name())));
        for (ListenerConfig listener : config.listeners()) {
            if (!listener.isHttp()
                    || config.routes().stream().anyMatch(route -> route.appliesTo(listener) && hasUpgrades(route))) {
                names.add(listener.name());
            }
        }
        return names;
    }

    private static boolean hasUpgrades(RouteConfig route) {
        return route.rules().stream()
                .flatMap(rule -> rule.upgrades().tokens().stream())
                .anyMatch(token -> !token.equals("websocket"));
    }

    /** Returns the upstreams and the entries of their endpoints; not those of connect. */
    public Map<Upstream, List<EndpointConfig>> endpoints() {
        Map<Upstream, List<EndpointConfig>> entries = new HashMap<>();
        for (UpstreamConfig each : config.upstreams()) {
            entries.put(Objects.requireNonNull(upstreams.get(each.name())), each.endpoints());
        }
        return entries;
    }

    /**
     * Returns the upstream that was made of a configuration that says the same, but maybe of its endpoints; or null.
     *
     * @param localZone where the gateway is; another one changes all upstreams
     */
    @Nullable
    Upstream same(UpstreamConfig wanted, @Nullable String localZone) {
        UpstreamConfig before = configured.get(wanted.name());
        boolean same = before != null
                && Objects.equals(config.localZone(), localZone)
                && ConfigEquality.isSame(before.withEndpoints(List.of()), wanted.withEndpoints(List.of()));
        return same ? upstreams.get(wanted.name()) : null;
    }

    /** Returns what was made of an entry that says the same, or null; also if it has to be made again. */
    @Nullable
    ConnectEntry same(ConnectConfig wanted) {
        return !ConnectAssembly.hasCredentials(wanted) && ConfigEquality.isSame(connect.get(wanted.name()), wanted)
                ? snapshot.connect().get(wanted.name())
                : null;
    }

    /** Gives upstreams that were made again the endpoint states of their predecessors with the same name. */
    public void inherit(ActiveConfig before) {
        upstreams.forEach((name, upstream) -> {
            Upstream former = before.upstream(name);
            if (former != null && former != upstream) {
                upstream.health().inherit(former.health());
            }
        });
    }

    /** Returns the upstream of that name, or null; not one of connect. */
    @Nullable
    public Upstream upstream(String name) {
        return upstreams.get(name);
    }

    /** Returns what has the name of a former upstream, and is of its kind; or null. */
    @Nullable
    public Upstream heir(Upstream former) {
        if (!(former.balancer() instanceof NamedByRequest)) {
            return upstreams.get(former.name());
        }
        ConnectEntry entry = snapshot.connect().get(former.name());
        return entry == null ? null : entry.upstreams().get(0); // any: what they lead to is nobody's
    }
}
