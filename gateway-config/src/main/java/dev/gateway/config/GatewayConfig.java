package dev.gateway.config;

import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.filter.PluginFilterConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.MetricsConfig;
import dev.gateway.config.observe.OtlpConfig;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Concealed;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One whole configuration, with defaults resolved and references checked. Paths are absolute. Everywhere in it a
 * duration of zero, a size of 0 and a count of 0 mean "no limit" where the description of a value does not say else.
 *
 * <p>The components are the keys of the file, side by side as there. Each has a type of its own, so that none can be
 * taken for another.
 *
 * @param connect empty if every CONNECT is refused
 * @param admin null if nothing is said of it: then a process of its own serves it where it is by default, see {@link
 *     #withAdmin}, and a gateway that is part of another program does not
 * @param localZone where the gateway is, null if nobody has said so
 * @param stateDirectory holds what survives a restart, null if nothing does
 * @param workers event loops, 0 for one per available core
 * @param concealed which values must not be shown
 */
public record GatewayConfig(
        Position position,
        List<ListenerConfig> listeners,
        List<RouteConfig> routes,
        List<UpstreamConfig> upstreams,
        List<StoreConfig> stores,
        List<ConnectConfig> connect,
        @Nullable AdminConfig admin,
        AccessLogConfig accessLog,
        TracingConfig tracing,
        MetricsConfig metrics,
        OtlpConfig otlp,
        OverloadConfig overload,
        DrainConfig drain,
        ResolverConfig resolver,
        @Nullable String localZone,
        @Nullable Path stateDirectory,
        int workers,
        Transport transport,
        Concealed concealed) {

    public GatewayConfig {
        listeners = List.copyOf(listeners);
        routes = List.copyOf(routes);
        upstreams = List.copyOf(upstreams);
        stores = List.copyOf(stores);
        connect = List.copyOf(connect);
    }

    /** Returns the same with an admin listener at the default address, if nothing is said of it. */
    public GatewayConfig withAdmin() {
        return admin != null
                ? this
                : new GatewayConfig(
                        position,
                        listeners,
                        routes,
                        upstreams,
                        stores,
                        connect,
                        AdminConfig.unchosen(position),
                        accessLog,
                        tracing,
                        metrics,
                        otlp,
                        overload,
                        drain,
                        resolver,
                        localZone,
                        stateDirectory,
                        workers,
                        transport,
                        concealed);
    }

    /** Returns the types of plugins whose filters it has, each once. */
    public List<FilterDeclaration> pluginTypes() {
        return routes.stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .filter(PluginFilterConfig.class::isInstance)
                .map(filter -> ((PluginFilterConfig) filter).declaration())
                .distinct()
                .toList();
    }

    /** Whether it has filters that were not checked. */
    public boolean hasUncheckedFilters() {
        return routes.stream().flatMap(route -> route.rules().stream()).anyMatch(RuleConfig::hasUncheckedFilters);
    }

    /** How bytes move between process and kernel. */
    public enum Transport {
        /** The best that this machine offers. */
        AUTO,
        EPOLL,
        IO_URING,
        NIO
    }
}
