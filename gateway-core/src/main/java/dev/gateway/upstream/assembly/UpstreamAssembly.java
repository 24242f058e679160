package dev.gateway.upstream.assembly;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.ParentProxies;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.discovery.EndpointEntries;
import java.util.ArrayList;
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
     * @param addresses where its endpoints may be
     * @param states has the files that it reads and follows
     */
    public static Upstream upstream(
            UpstreamConfig config, @Nullable String localZone, AddressPolicy addresses, FilterStates.Prepared states)
            throws StartException {
        UpstreamConfig.Protocols protocols = config.protocols();
        UpstreamSettings settings = new UpstreamSettings(
                protocols.protocol(),
                protocols.tls(),
                config.circuitBreaker(),
                config.timeouts(),
                new DialSettings(addresses, ParentProxies.NONE, protocols.sendProxyProtocol()));
        Balancer.Policy balancing = BuiltInBalancers.policy(config.loadBalancer());
        Upstream upstream = new Upstream(config.name(), HealthAssembly.health(config, balancing, localZone), settings);
        upstream.update(specs(config));
        return SessionAssembly.addTo(upstream, config.sessionPersistence(), states);
    }

    /** Returns the endpoints of an upstream before the first answer of any source. */
    private static List<EndpointSpec> specs(UpstreamConfig config) {
        List<EndpointSpec> specs = new ArrayList<>();
        for (EndpointConfig entry : config.endpoints()) {
            EndpointSpec spec = EndpointEntries.spec(entry);
            if (spec != null) {
                specs.add(spec);
            }
        }
        return specs;
    }
}
