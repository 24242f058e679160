package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.DrainConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.GatewayConfig.Transport;
import dev.gateway.config.ResolverConfig;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Schema of the root: what a whole configuration is, key by key. */
public final class RootSchema {
    private static final ObjectType<DrainConfig> DRAIN = ObjectType.of("drain section", "How the gateway stops.", o -> {
        var timeout = o.defaulted(
                "timeout",
                Types.DURATION,
                Duration.ofSeconds(30),
                DrainConfig::timeout,
                "After which what is still in flight is ended.");
        var acceptFor = o.defaulted(
                "acceptFor",
                Types.DURATION,
                Duration.ZERO,
                DrainConfig::acceptFor,
                "How long new connections are still accepted while readiness already fails.");
        return v -> {
            if (v.get(acceptFor).compareTo(v.get(timeout)) > 0) {
                v.error(v.at("acceptFor"), "acceptFor is part of 'timeout', and so cannot be longer");
            }
            return new DrainConfig(v.position(), v.get(timeout), v.get(acceptFor));
        };
    });

    private static final ObjectType<ResolverConfig> RESOLVER =
            ObjectType.of("resolver section", "How host names become addresses.", o -> {
                var nameServers = o.defaulted(
                        "nameServers",
                        new ListType<>(Types.NAME_SERVER, 0),
                        List.of(),
                        ResolverConfig::nameServers,
                        "Whom to ask, in order; those of this machine if empty. Its hosts file comes before them.");
                return v -> new ResolverConfig(v.position(), v.get(nameServers));
            });

    /** A whole configuration. */
    public static final ObjectType<GatewayConfig> ROOT =
            ObjectType.of("configuration", "The configuration of a gateway.", o -> {
                var listeners = o.required(
                        "listeners",
                        new ListType<>(ListenerSchema.LISTENER, 1),
                        GatewayConfig::listeners,
                        "Where clients connect.");
                var routes = o.defaulted(
                        "routes",
                        new ListType<>(RouteSchema.ROUTE, 0),
                        List.of(),
                        GatewayConfig::routes,
                        "What requests are handled how. One that matches no route is answered 404.");
                var upstreams = o.defaulted(
                        "upstreams",
                        new ListType<>(UpstreamSchema.UPSTREAM, 0),
                        List.of(),
                        GatewayConfig::upstreams,
                        "Where requests are forwarded to.");
                var admin = o.optional(
                        "admin",
                        AdminSchema.ADMIN,
                        GatewayConfig::admin,
                        "Health, metrics and statistics; at 127.0.0.1:9901 if absent.");
                var accessLog = o.section(
                        "accessLog",
                        AccessLogSchema.ACCESS_LOG,
                        GatewayConfig::accessLog,
                        "One line for each exchange.");
                var tracing = o.section(
                        "tracing",
                        TracingSchema.TRACING,
                        GatewayConfig::tracing,
                        "Which trace each request is part of.");
                var metrics = o.section(
                        "metrics",
                        OtlpSchema.METRICS,
                        GatewayConfig::metrics,
                        "Who gets metrics besides those who ask the admin listener for them.");
                var otlp = o.section(
                        "otlp",
                        OtlpSchema.OTLP,
                        config -> OtlpChecks.exports(config) ? config.otlp() : null,
                        "Where spans and metrics go that are exported, by OTLP over HTTP.");
                var drain = o.section("drain", DRAIN, GatewayConfig::drain, "How the gateway stops.");
                var resolver =
                        o.section("resolver", RESOLVER, GatewayConfig::resolver, "How host names become addresses.");
                var workers = o.defaulted(
                        "workers",
                        Types.integer(0, 1024),
                        0,
                        GatewayConfig::workers,
                        "Event loops; 0 for one per available core.");
                var transport = o.defaulted(
                        "transport",
                        Types.words(
                                entry("auto", Transport.AUTO),
                                entry("epoll", Transport.EPOLL),
                                entry("io_uring", Transport.IO_URING),
                                entry("nio", Transport.NIO)),
                        Transport.AUTO,
                        GatewayConfig::transport,
                        "How bytes move between process and kernel; auto takes the best there is.");
                var connect = o.defaulted(
                        "connect",
                        new ListType<>(ConnectSchema.CONNECT, 0),
                        List.of(),
                        GatewayConfig::connect,
                        "Who may reach what by CONNECT, and by plain requests for other hosts; refused if absent.");
                return v -> new GatewayConfig(
                        v.position(),
                        v.get(listeners),
                        named(TunnelRoutes.resolve(v.get(listeners), v.get(routes), v), v),
                        v.get(upstreams),
                        ConnectSchema.named(v.get(connect), v),
                        v.find(admin),
                        v.get(accessLog),
                        v.get(tracing),
                        v.get(metrics),
                        v.get(otlp),
                        v.get(drain),
                        v.get(resolver),
                        v.get(workers),
                        v.get(transport),
                        v.concealed());
            });

    private RootSchema() {}

    /** Gives each route without a name one by its position. */
    private static List<RouteConfig> named(List<RouteConfig> routes, Values v) {
        List<RouteConfig> named = new ArrayList<>();
        for (RouteConfig route : routes) {
            RouteConfig result = route;
            if (route.name().isEmpty()) {
                result = new RouteConfig(
                        route.position(),
                        "route-" + (named.size() + 1),
                        route.parentRefs(),
                        route.hostnames(),
                        route.rules());
                v.inherit(result, route);
            }
            named.add(result);
        }
        return named;
    }
}
