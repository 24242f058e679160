package dev.gateway;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.EndpointConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.config.Position;
import dev.gateway.config.TracingConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.exchange.ClientTrust;
import dev.gateway.files.FileFault;
import dev.gateway.message.ForwardedFields;
import dev.gateway.message.OddNames;
import dev.gateway.net.TransportKind;
import dev.gateway.route.Router;
import dev.gateway.stream.Cidr;
import dev.gateway.stream.CidrSet;
import dev.gateway.trace.Propagator;
import dev.gateway.trace.TraceSettings;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Dialling;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.ParentProxies;
import dev.gateway.upstream.RoundRobin;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns configuration into what runs: with {@link ListenerAssembly}, {@link RouteAssembly} and {@link ConnectAssembly}
 * the only place that sees both. What is written here has been validated, so a failure names the place in the file and
 * is a start failure.
 */
final class Assembly {
    /** Of upstreams that say nothing of it: five failures in a row, that is, of which each can only be the endpoint's own. */
    private static final OutlierDetection PROTECTION =
            new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 30_000, 300_000, 50);

    private Assembly() {}

    /**
     * Makes a generation. It shares upstreams that mean the same with the generation before, so that their connections,
     * limits and balancers go on.
     *
     * @param indexes of listeners, by their names
     * @param before what is in force, null for the first
     * @param tunnels what its tunnels share with those of other generations
     * @param values of header fields that files have
     */
    static Snapshot snapshot(
            GatewayConfig config,
            int generation,
            Map<String, Integer> indexes,
            @Nullable InForce before,
            TunnelState tunnels,
            HeaderValues.Prepared values)
            throws StartException {
        Map<String, Upstream> upstreams = new LinkedHashMap<>();
        for (UpstreamConfig upstream : config.upstreams()) {
            Upstream same = before == null ? null : before.same(upstream);
            upstreams.put(upstream.name(), same != null ? same : upstream(upstream));
        }
        Map<String, ConnectAssembly.Entry> connect = new LinkedHashMap<>();
        Map<String, ConnectAssembly.Entry> connectOf = new HashMap<>();
        for (ConnectConfig each : config.connect()) {
            ConnectAssembly.Entry same = before == null ? null : before.same(each);
            ConnectAssembly.Entry entry = same != null ? same : ConnectAssembly.entry(each, tunnels);
            connect.put(each.name(), entry);
            each.parentRefs().forEach(ref -> connectOf.put(ref.name(), entry));
        }
        Map<Integer, Snapshot.ListenerPolicy> policies = new HashMap<>();
        List<Router> routers =
                RouteAssembly.routers(config, upstreams, tunnels::ofRoute, new FilterAssembly(values::value));
        for (int i = 0; i < config.listeners().size(); i++) {
            ListenerConfig listener = config.listeners().get(i);
            ConnectAssembly.Entry entry = connectOf.get(listener.name());
            policies.put(
                    Objects.requireNonNull(indexes.get(listener.name())),
                    new Snapshot.ListenerPolicy(
                            entry == null ? routers.get(i) : entry.withPage(routers.get(i)),
                            entry != null
                                    ? entry.tunnels()
                                    : listener.protocol().isHttp() ? null : routers.get(i),
                            new ClientTrust(
                                    cidrs(listener.trustedProxies()),
                                    config.tracing().trust() == TracingConfig.Trust.ANYONE,
                                    oddNames(listener.headersWithUnderscores())),
                            forwarded(listener.forwardedHeaders()),
                            (int) listener.limits().maxRequestLine(),
                            listener.limits().maxBody()));
        }
        return Snapshot.of(generation, traces(config.tracing()), policies, List.copyOf(upstreams.values()), connect);
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

    private static Upstream upstream(UpstreamConfig config) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (EndpointConfig endpoint : config.endpoints()) {
            endpoints.add(endpoint(endpoint, endpoints.size()));
        }
        UpstreamConfig.Tls tls = config.tls();
        UpstreamConfig.Timeouts timeouts = config.timeouts();
        UpstreamSettings settings = UpstreamSettings.builder()
                .protocol(protocol(config.protocol()))
                .tls(tls == null ? null : tls(tls))
                .maxConnections(config.circuitBreaker().maxConnections())
                .maxPendingRequests(config.circuitBreaker().maxPendingRequests())
                .maxRequests(config.circuitBreaker().maxRequests())
                .connectMillis(millis(timeouts.connect()))
                .tlsHandshakeMillis(millis(timeouts.tlsHandshake()))
                .poolAcquireMillis(millis(timeouts.poolAcquire()))
                .responseHeadersMillis(millis(timeouts.responseHeaders()))
                .idleMillis(millis(timeouts.idle()))
                .maxLifetimeMillis(millis(timeouts.maxLifetime()))
                .dialling(dialling(config.sendProxyProtocol()))
                .build();
        Balancer balancer =
                switch (config.loadBalancer()) {
                    case ROUND_ROBIN -> new RoundRobin(endpoints);
                };
        UpstreamConfig.HealthChecks checks = config.healthChecks();
        OutlierDetection outliers = outliers(checks == null ? null : checks.outlierDetection());
        ActiveCheck active = checks == null ? null : active(checks.active());
        return new Upstream(
                config.name(), new Health(endpoints, balancer, outliers, active, System::nanoTime), settings);
    }

    private static @Nullable OutlierDetection outliers(UpstreamConfig.@Nullable OutlierDetection config) {
        if (config == null) {
            return PROTECTION;
        }
        return config.consecutive5xx() == 0
                ? null
                : new OutlierDetection(
                        OutlierDetection.Counts.ANY_FAILURE,
                        config.consecutive5xx(),
                        millis(config.baseEjectionTime()),
                        millis(config.maxEjectionTime()),
                        config.maxEjectionPercent());
    }

    private static @Nullable ActiveCheck active(UpstreamConfig.@Nullable ActiveCheck config) {
        return config == null
                ? null
                : new ActiveCheck(
                        config.path(),
                        config.host(),
                        millis(config.interval()),
                        millis(config.timeout()),
                        config.healthyThreshold(),
                        config.unhealthyThreshold(),
                        config.expectedStatuses().stream()
                                .map(each -> new ActiveCheck.Statuses(each.first(), each.last()))
                                .toList());
    }

    private static UpstreamSettings.Protocol protocol(UpstreamConfig.Protocol protocol) {
        return switch (protocol) {
            case AUTO -> UpstreamSettings.Protocol.AUTO;
            case HTTP1 -> UpstreamSettings.Protocol.HTTP1;
            case H2 -> UpstreamSettings.Protocol.H2;
            case H2C -> UpstreamSettings.Protocol.H2C;
        };
    }

    static UpstreamSettings.Tls tls(UpstreamConfig.Tls tls) {
        return new UpstreamSettings.Tls(
                tls.verify(), tls.caFile(), tls.serverName(), tls.certFile(), tls.keyFile(), List.of());
    }

    static Endpoint endpoint(EndpointConfig config, int index) {
        String host = config.unix() != null ? "unix:" + config.unix() : String.valueOf(config.host());
        return new Endpoint(index, host, config.port(), config.weight());
    }

    private static Dialling dialling(UpstreamConfig.SendProxyProtocol wanted) {
        return switch (wanted) {
            case NONE -> Dialling.DIRECT;
            case V1 -> new Dialling(null, ParentProxies.NONE, Dialling.ProxyHeader.V1);
            case V2 -> new Dialling(null, ParentProxies.NONE, Dialling.ProxyHeader.V2);
        };
    }

    /** Returns milliseconds, at least one for a duration that is not zero: 0 means no limit. */
    static long millis(Duration duration) {
        return duration.isZero() ? 0 : Math.max(1, duration.toMillis());
    }

    static CidrSet cidrs(List<dev.gateway.config.Cidr> configured) {
        List<Cidr> blocks = new ArrayList<>();
        for (dev.gateway.config.Cidr block : configured) {
            Cidr parsed = Cidr.parse(block.toString());
            if (parsed == null) {
                throw new IllegalStateException("a block of addresses that is none: " + block);
            }
            blocks.add(parsed);
        }
        return CidrSet.of(blocks);
    }

    static TransportKind transport(GatewayConfig.Transport wanted) {
        return switch (wanted) {
            case AUTO, EPOLL -> TransportKind.EPOLL;
            case IO_URING -> TransportKind.IO_URING;
            case NIO -> TransportKind.NIO;
        };
    }

    static StartException failure(Position position, Exception cause) {
        return new StartException(position + ": " + FileFault.message(cause), cause);
    }
}
