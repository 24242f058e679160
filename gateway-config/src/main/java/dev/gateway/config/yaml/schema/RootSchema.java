package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.DrainConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.GatewayConfig.Transport;
import dev.gateway.config.ResolverConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.yaml.schema.connect.ConnectSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.schema.listener.ListenerSchema;
import dev.gateway.config.yaml.schema.observe.AccessLogSchema;
import dev.gateway.config.yaml.schema.observe.OtlpChecks;
import dev.gateway.config.yaml.schema.observe.OtlpSchema;
import dev.gateway.config.yaml.schema.observe.TracingSchema;
import dev.gateway.config.yaml.schema.route.RouteSchema;
import dev.gateway.config.yaml.schema.route.TunnelRoutes;
import dev.gateway.config.yaml.schema.upstream.UpstreamSchema;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ReloadEffect;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Schema of the root: what a whole configuration is, key by key. */
public final class RootSchema {
    private static final ObjectType<DrainConfig> DRAIN =
            ObjectType.of("drain section", "How the gateway stops: what SIGTERM and POST /quit do.", o -> {
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofSeconds(30),
                        DrainConfig::timeout,
                        "How long exchanges and tunnels in flight may continue. The gateway then ends the " + "rest.");
                var acceptFor = o.defaulted(
                        "acceptFor",
                        Types.DURATION,
                        Duration.ZERO,
                        DrainConfig::acceptFor,
                        "How long the gateway still accepts new connections after /ready has begun to fail. "
                                + "It is part of timeout.");
                o.single("timeout");
                o.foreign("grace graceTimeOut period", "timeout"); // Traefik
                return v -> {
                    if (v.get(acceptFor).compareTo(v.get(timeout)) > 0) {
                        v.error(v.at("acceptFor"), "acceptFor is part of 'timeout' and cannot be longer");
                    }
                    return new DrainConfig(v.position(), v.get(timeout), v.get(acceptFor));
                };
            });

    private static final ObjectType<ResolverConfig> RESOLVER =
            ObjectType.of("resolver section", "How the gateway looks up host names.", o -> {
                var nameServers = o.defaulted(
                        "nameServers",
                        new ListType<>(Types.NAME_SERVER, 0),
                        List.of(),
                        ResolverConfig::nameServers,
                        "DNS servers to ask, in order. An empty list means those of this machine. The hosts "
                                + "file comes first.");
                var maxTtl = o.defaulted(
                        "maxTtl",
                        Types.DURATION,
                        Duration.ofSeconds(30),
                        ResolverConfig::maxTtl,
                        "How long the gateway uses an answer of DNS, if its time to live (TTL) is longer; at least 1s.");
                o.single("nameServers");
                o.foreign("valid ttl", "maxTtl"); // nginx
                return v -> {
                    if (v.get(maxTtl).toSeconds() < 1) {
                        v.error(v.at("maxTtl"), "maxTtl: expected at least 1s");
                    }
                    return new ResolverConfig(v.position(), v.get(nameServers), v.get(maxTtl));
                };
            });

    /** A whole configuration with the types of filters that the gateway itself has. */
    public static final ObjectType<GatewayConfig> ROOT = declare(FilterTypes.BUILT_IN);

    private RootSchema() {}

    /** Returns what a whole configuration is whose filters have these types. */
    public static ObjectType<GatewayConfig> of(FilterTypes types) {
        return types == FilterTypes.BUILT_IN ? ROOT : declare(types);
    }

    private static ObjectType<GatewayConfig> declare(FilterTypes types) {
        return ObjectType.of("configuration", "The configuration of a gateway.", o -> {
            var listeners = o.onReload(ReloadEffect.NEW_CONNECTIONS)
                    .required(
                            "listeners",
                            new ListType<>(ListenerSchema.LISTENER, 1),
                            GatewayConfig::listeners,
                            "The addresses where clients connect. At least one file has this key.");
            var routes = o.defaulted(
                    "routes",
                    new ListType<>(RouteSchema.route(types), 0),
                    List.of(),
                    GatewayConfig::routes,
                    "Which requests go where. The gateway answers a request without a route with 404.");
            var upstreams = o.onReload(ReloadEffect.RECONNECT)
                    .defaulted(
                            "upstreams",
                            new ListType<>(UpstreamSchema.UPSTREAM, 0),
                            List.of(),
                            GatewayConfig::upstreams,
                            "The servers that the gateway forwards requests to, in named groups.");
            var stores = o.onReload(ReloadEffect.RECONNECT)
                    .defaulted(
                            "stores",
                            new ListType<>(StoreSchema.STORE, 0),
                            List.of(),
                            GatewayConfig::stores,
                            "Where limits of several gateways count together.");
            var admin = o.optional(
                    "admin",
                    AdminSchema.ADMIN,
                    GatewayConfig::admin,
                    "The listener for health, metrics and statistics. Without this key it is at " + "127.0.0.1:9901.");
            var accessLog = o.section(
                    "accessLog",
                    AccessLogSchema.ACCESS_LOG,
                    GatewayConfig::accessLog,
                    "The access log: one line for each exchange.");
            var tracing = o.section(
                    "tracing",
                    TracingSchema.TRACING,
                    GatewayConfig::tracing,
                    "Distributed tracing: whether the gateway continues, starts and exports traces.");
            var metrics = o.section(
                    "metrics",
                    OtlpSchema.METRICS,
                    GatewayConfig::metrics,
                    "Further metrics, and push of metrics. The admin listener serves /metrics without this key, too.");
            var otlp = o.section(
                    "otlp",
                    OtlpSchema.OTLP,
                    config -> OtlpChecks.exports(config) ? config.otlp() : null,
                    "The OTLP receiver (OpenTelemetry, over HTTP) for spans and metrics.");
            var overload = o.onReload(ReloadEffect.AT_ONCE)
                    .section(
                            "overload",
                            OverloadSchema.OVERLOAD,
                            GatewayConfig::overload,
                            "When the gateway refuses new work because the process runs short.");
            var drain = o.section("drain", DRAIN, GatewayConfig::drain, "How the gateway stops.");
            var resolver = o.onReload(ReloadEffect.RESTART)
                    .section("resolver", RESOLVER, GatewayConfig::resolver, "How the gateway looks up host names.");
            var localZone = o.onReload(ReloadEffect.RECONNECT)
                    .optional(
                            "localZone",
                            Types.NAME,
                            GatewayConfig::localZone,
                            "Zone of this gateway, such as ${ZONE}. The gateway prefers endpoints of the same "
                                    + "zone, as far as they can take the requests.");
            var stateDirectory = o.optional(
                    "stateDirectory",
                    Types.PATH,
                    GatewayConfig::stateDirectory,
                    "Directory for what survives a restart of the gateway: which endpoints operators have taken out "
                            + "of service. Each gateway needs its own. Without this key nothing survives.");
            var workers = o.onReload(ReloadEffect.RESTART)
                    .defaulted(
                            "workers",
                            Types.integer(0, 1024).explained(text -> text.equals("auto") ? ": write 0" : ""),
                            0,
                            GatewayConfig::workers,
                            "Number of event loops; 0 means one for each available core.");
            var transport = o.onReload(ReloadEffect.RESTART)
                    .defaulted(
                            "transport",
                            Types.words(
                                    entry("auto", Transport.AUTO),
                                    entry("epoll", Transport.EPOLL),
                                    entry("io_uring", Transport.IO_URING),
                                    entry("nio", Transport.NIO)),
                            Transport.AUTO,
                            GatewayConfig::transport,
                            "How the gateway does socket I/O. auto takes epoll on Linux if it is available, else "
                                    + "nio.");
            var connect = o.defaulted(
                    "connect",
                    new ListType<>(ConnectSchema.CONNECT, 0),
                    List.of(),
                    GatewayConfig::connect,
                    "Who may reach which hosts with CONNECT or as a plain forward proxy. The gateway "
                            + "refuses both without this key.");
            o.optional(
                    IncludeSchema.KEY,
                    IncludeSchema.LIST,
                    config -> null, // the tree has been joined
                    "Further files of the configuration. Each has some of these keys. Lists of all files are joined, "
                            + "and every other key is in one of the files.");
            o.foreign("workerThreads workerConnections", "workers"); // nginx
            o.foreign("maxConnections", "write listeners: [{limits: {maxConnections: …}}]");
            o.foreign("filters", "write routes: [{rules: [{filters: …}]}]");
            o.foreign("hostnames", "write routes: [{hostnames: …}]");
            o.foreign("port", "write listeners: [{port: …}]");
            o.foreign("tls", "write listeners: [{tls: …}]");
            o.foreign("http staticResources", "write listeners, routes and upstreams"); // nginx, Traefik, Envoy
            o.foreign("server", "write listeners, routes and upstreams"); // nginx
            o.foreign("defaults global", "every listener, rule and upstream has its own keys"); // HAProxy
            o.foreign("gateways", "listeners"); // Gateway API
            o.foreign("stats", "write admin: {port: …}, which serves /stats and /metrics"); // HAProxy
            o.foreign("includes includeFile import imports files configFiles", IncludeSchema.KEY); // nginx, Caddy
            o.foreign("serverStateBase serverStateFile loadServerStateFromFile", "stateDirectory"); // HAProxy
            o.foreign("stateDir stateFile stateFilename dataDir dataDirectory", "stateDirectory");
            return v -> new GatewayConfig(
                    v.position(),
                    v.get(listeners),
                    named(TunnelRoutes.resolve(v.get(listeners), v.get(routes), v), v),
                    v.get(upstreams),
                    v.get(stores),
                    ConnectSchema.named(v.get(connect), v),
                    v.find(admin),
                    v.get(accessLog),
                    v.get(tracing),
                    v.get(metrics),
                    v.get(otlp),
                    v.get(overload),
                    v.get(drain),
                    v.get(resolver),
                    v.find(localZone),
                    v.find(stateDirectory),
                    v.get(workers),
                    v.get(transport),
                    v.concealed());
        });
    }

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
