package dev.gateway.runtime.assembly;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.connect.assembly.ConnectAssembly;
import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.exchange.settings.BodyRate;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.assembly.FilterAssembly;
import dev.gateway.format.CidrSet;
import dev.gateway.format.Durations;
import dev.gateway.message.OddNames;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.observe.trace.Propagator;
import dev.gateway.observe.trace.TraceSettings;
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
 * validated, so a failure names the place in the file and is a start failure.
 */
public final class Assembly {
    /** How far a client may be behind with a body, where it may be silent for as long as it likes. */
    private static final long DEFAULT_GRACE_MILLIS = 60_000;

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
        FilterAssembly filters =
                new FilterAssembly(states, tunnels.services(), upstreams, config.metrics().filters());
        List<Router> routers = RouteAssembly.routers(config, upstreams, tunnels::ofRoute, filters);
        for (int i = 0; i < config.listeners().size(); i++) {
            ListenerConfig listener = config.listeners().get(i);
            ConnectEntry entry = connectOf.get(listener.name());
            ErrorPagesConfig pages = listener.http().errorPages();
            Router tunnelRoutes = entry != null ? entry.tunnels() : listener.isHttp() ? null : routers.get(i);
            Generation.ListenerRouters own = new Generation.ListenerRouters(
                    entry == null ? routers.get(i) : entry.withPage(routers.get(i)), tunnelRoutes);
            listeners.put(
                    Objects.requireNonNull(indexes.get(listener.name())),
                    new Generation.Listener(
                            own,
                            new GenerationSettings.ListenerPolicy(
                                    tunnelRoutes != null,
                                    new ClientTrust(
                                            CidrSet.of(listener.http().trustedProxies()),
                                            config.tracing().trust() == TracingConfig.Trust.ANYONE,
                                            oddNames(listener.http().headersWithUnderscores())),
                                    forwarded(listener.http().forwardedHeaders()),
                                    listener.http().via() == ListenerConfig.Via.ALWAYS,
                                    (int) listener.limits().maxRequestLine(),
                                    listener.limits().maxBody(),
                                    bodyRate(listener),
                                    pages == null ? null : filters.errorPages(pages))));
        }
        List<Upstream> all = new ArrayList<>(upstreams.values());
        all.addAll(states.all(Upstream.class));
        return Generation.of(generation, traces(config.tracing()), listeners, all, connect);
    }

    private static @Nullable BodyRate bodyRate(ListenerConfig listener) {
        long rate = listener.minBodyRate();
        long idle = Durations.millis(listener.timeouts().requestBodyIdle());
        return rate == 0 ? null : new BodyRate(rate, idle == 0 ? DEFAULT_GRACE_MILLIS : idle);
    }

    private static @Nullable TraceSettings traces(TracingConfig config) {
        return config.mode() == TracingConfig.Mode.OFF
                ? null
                : new TraceSettings(
                        config.mode() == TracingConfig.Mode.EXPORT,
                        config.propagators().stream().map(Assembly::propagator).toList(),
                        config.sampler().parentBased(),
                        config.sampler().ratio());
    }

    private static Propagator propagator(TracingConfig.Propagator wanted) {
        return switch (wanted) {
            case TRACE_CONTEXT -> Propagator.TRACE_CONTEXT;
            case B3 -> Propagator.B3;
            case B3_MULTI -> Propagator.B3_MULTI;
        };
    }

    private static OddNames.Policy oddNames(ListenerConfig.HeadersWithUnderscores wanted) {
        return switch (wanted) {
            case REJECT -> OddNames.Policy.REJECT;
            case DROP -> OddNames.Policy.DROP;
            case ALLOW -> OddNames.Policy.ALLOW;
        };
    }

    private static ForwardedFields forwarded(ListenerConfig.ForwardedHeaders wanted) {
        return new ForwardedFields(
                switch (wanted) {
                    case X_FORWARDED -> ForwardedFields.Mode.X_FORWARDED;
                    case FORWARDED -> ForwardedFields.Mode.FORWARDED;
                    case BOTH -> ForwardedFields.Mode.BOTH;
                    case OFF -> ForwardedFields.Mode.OFF;
                });
    }
}
