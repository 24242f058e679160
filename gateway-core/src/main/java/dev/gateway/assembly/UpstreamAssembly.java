package dev.gateway.assembly;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.DialSettings;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.ParentProxies;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamTlsSettings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream factory. Turns the configuration of an upstream into what serves it: endpoints, a balancer, health, settings.
 */
public final class UpstreamAssembly {
    /** Of upstreams that say nothing of it: five failures in a row, that is, of which each can only be the endpoint's own. */
    private static final OutlierDetection PROTECTION =
            new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 30_000, 300_000, 50);

    private UpstreamAssembly() {}

    /** Makes an upstream with all its endpoints in service. */
    static Upstream upstream(UpstreamConfig config) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (EndpointConfig endpoint : config.endpoints()) {
            endpoints.add(endpoint(endpoint, endpoints.size()));
        }
        UpstreamConfig.Protocols protocols = config.protocols();
        UpstreamConfig.Tls tls = protocols.tls();
        UpstreamConfig.Timeouts timeouts = config.timeouts();
        UpstreamSettings settings = UpstreamSettings.builder()
                .protocol(protocol(protocols.protocol()))
                .tls(tls == null ? null : tls(tls))
                .maxConnections(config.circuitBreaker().maxConnections())
                .maxPendingRequests(config.circuitBreaker().maxPendingRequests())
                .maxRequests(config.circuitBreaker().maxRequests())
                .connectMillis(Conversions.millis(timeouts.connect()))
                .tlsHandshakeMillis(Conversions.millis(timeouts.tlsHandshake()))
                .poolAcquireMillis(Conversions.millis(timeouts.poolAcquire()))
                .responseHeadersMillis(Conversions.millis(timeouts.responseHeaders()))
                .idleMillis(Conversions.millis(timeouts.idle()))
                .maxLifetimeMillis(Conversions.millis(timeouts.maxLifetime()))
                .dialSettings(dialSettings(protocols.sendProxyProtocol()))
                .build();
        Balancer.Policy balancing = BalancerAssembly.policy(config.loadBalancer());
        UpstreamConfig.HealthChecks checks = config.healthChecks();
        OutlierDetection outliers = outliers(checks == null ? null : checks.outlierDetection());
        ActiveCheck active = checks == null ? null : active(checks.active());
        return new Upstream(
                config.name(), new Health(endpoints, balancing, outliers, active, System::nanoTime), settings);
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
                        Conversions.millis(config.baseEjectionTime()),
                        Conversions.millis(config.maxEjectionTime()),
                        config.maxEjectionPercent());
    }

    private static @Nullable ActiveCheck active(UpstreamConfig.@Nullable ActiveCheck config) {
        return config == null
                ? null
                : new ActiveCheck(
                        config.path(),
                        config.host(),
                        Conversions.millis(config.interval()),
                        Conversions.millis(config.timeout()),
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

    /** Returns how connections to it are secured. */
    static UpstreamTlsSettings tls(UpstreamConfig.Tls tls) {
        return new UpstreamTlsSettings(
                tls.verify(), tls.caFile(), tls.serverName(), tls.certFile(), tls.keyFile(), List.of());
    }

    /** Returns an endpoint of an upstream, and its position there. */
    public static Endpoint endpoint(EndpointConfig config, int index) {
        String host = config.unix() != null ? "unix:" + config.unix() : String.valueOf(config.host());
        return new Endpoint(index, host, config.port(), config.weight());
    }

    private static DialSettings dialSettings(UpstreamConfig.SendProxyProtocol wanted) {
        return switch (wanted) {
            case NONE -> DialSettings.DIRECT;
            case V1 -> new DialSettings(null, ParentProxies.NONE, DialSettings.ProxyHeader.V1);
            case V2 -> new DialSettings(null, ParentProxies.NONE, DialSettings.ProxyHeader.V2);
        };
    }
}
