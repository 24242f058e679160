package dev.gateway.assembly;

import dev.gateway.config.EndpointConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.process.StartException;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.DialSettings;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.ParentProxies;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamTlsSettings;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream factory. Turns the configuration of an upstream into what serves it: endpoints, a balancer, health, settings.
 */
public final class UpstreamAssembly {
    private UpstreamAssembly() {}

    /**
     * Makes an upstream with all its endpoints in service.
     *
     * @param localZone where the gateway is, null if nobody has said so
     * @param states has the files that it reads and follows
     */
    static Upstream upstream(UpstreamConfig config, @Nullable String localZone, FilterStates.Prepared states)
            throws StartException {
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
        Upstream upstream = new Upstream(config.name(), HealthAssembly.health(config, balancing, localZone), settings);
        upstream.update(specs(config));
        return SessionAssembly.addTo(upstream, config.sessionPersistence(), states);
    }

    /** Returns what is wanted of the endpoints of an upstream. */
    static List<EndpointSpec> specs(UpstreamConfig config) {
        return config.endpoints().stream().map(UpstreamAssembly::spec).toList();
    }

    /** Returns what is wanted of an entry as long as nothing else is known of it: of a name, that it is resolved. */
    public static EndpointSpec spec(EndpointConfig config) {
        Endpoint endpoint = endpoint(config, 0);
        return new EndpointSpec(
                endpoint.host(),
                endpoint.port(),
                config.weight(),
                endpoint.name(),
                endpoint.zone(),
                config.dns() == null ? EndpointSpec.STATIC : EndpointSpec.DNS + config.dns());
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
        String name = config.dns() != null ? config.dns() : config.host();
        String host = config.unix() != null ? "unix:" + config.unix() : String.valueOf(name);
        return new Endpoint(index, host, config.port(), config.weight(), host, config.zone());
    }

    private static DialSettings dialSettings(UpstreamConfig.SendProxyProtocol wanted) {
        return switch (wanted) {
            case NONE -> DialSettings.DIRECT;
            case V1 -> new DialSettings(null, ParentProxies.NONE, DialSettings.ProxyHeader.V1);
            case V2 -> new DialSettings(null, ParentProxies.NONE, DialSettings.ProxyHeader.V2);
        };
    }
}
