package dev.gateway.runtime.assembly;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.connect.assembly.ConnectAssembly;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.assembly.FilterAssembly;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.exchange.settings.ListenerPolicy;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.assembly.SessionAssembly;
import dev.gateway.upstream.assembly.UpstreamAssembly;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Configuration assembly. Joins what the areas make of a configuration to a generation. What is written there has been
 * validated, so a failure names the place in the file and is a start failure. Sockets of listeners, connections to upstreams
 * and to stores, the access log and telemetry are steps of a reload of their own.
 */
public final class Assembly {
    private Assembly() {}

    /**
     * Makes a generation. It shares upstreams that mean the same with the generation before, so that their connections,
     * limits and balancers stay.
     *
     * @param indexes of listeners, by their names
     * @param before the active generation, null for the first
     * @param tunnels what its tunnels share with those of other generations
     * @param states what filters and sessions keep from one generation to the next
     */
    public static Generation snapshot(
            GatewayConfig config,
            int generation,
            Map<String, Integer> indexes,
            @Nullable ActiveConfig before,
            ConnectShared tunnels,
            FilterStates.Prepared states)
            throws StartException {
        Map<String, Upstream> upstreams = new LinkedHashMap<>();
        for (UpstreamConfig upstream : config.upstreams()) {
            Upstream same = before == null ? null : before.same(upstream, config.localZone());
            if (same == null) {
                same = UpstreamAssembly.upstream(upstream, config.localZone(), tunnels.adminKeptOut(), states);
            } else {
                SessionAssembly.keep(same, upstream.sessionPersistence(), states);
            }
            upstreams.put(upstream.name(), same);
        }
        Map<String, ConnectEntry> connect = new LinkedHashMap<>();
        Map<String, ConnectEntry> connectOf = new HashMap<>();
        for (ConnectConfig each : config.connect()) {
            ConnectEntry same = before == null ? null : before.same(each);
            ConnectEntry entry = same != null ? same : ConnectAssembly.entry(each, tunnels);
            connect.put(each.name(), entry);
            each.parentRefs().forEach(ref -> connectOf.put(ref.name(), entry));
        }
        Map<Integer, Generation.Listener> listeners = new HashMap<>();
        FilterAssembly filters = new FilterAssembly(
                states, tunnels.services(), upstreams, config.metrics().filters());
        List<Router> routers = RouteAssembly.routers(config, upstreams, tunnels::ofRoute, filters);
        for (int i = 0; i < config.listeners().size(); i++) {
            ListenerConfig listener = config.listeners().get(i);
            ConnectEntry entry = connectOf.get(listener.name());
            Router tunnelRoutes = entry != null ? entry.tunnels() : listener.isHttp() ? null : routers.get(i);
            listeners.put(
                    Objects.requireNonNull(indexes.get(listener.name())),
                    new Generation.Listener(
                            entry == null ? routers.get(i) : entry.withPage(routers.get(i)),
                            tunnelRoutes,
                            ListenerPolicy.of(generation, listener, config.tracing(), tunnelRoutes != null, states)));
        }
        List<Upstream> all = new ArrayList<>(upstreams.values());
        all.addAll(states.all(Upstream.class)); // those of filters, such as the servers that have keys of tokens
        return Generation.of(generation, listeners, all, connect);
    }
}
