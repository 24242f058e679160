package dev.gateway.runtime.upstreams;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.observe.metrics.state.UpstreamState.Feature;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamSettings;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Features that a configuration turns on, by upstream: those of its own section, and those of the rules that lead to it.
 * Immutable.
 */
final class UpstreamFeatures {
    /** What upstreams have that no section of the configuration is about, such as those of {@code connect}. */
    private static final Set<Feature> OF_OTHERS =
            EnumSet.of(Feature.HTTP1, Feature.HTTP2, Feature.TUNNELS, Feature.RETRIES, Feature.CONNECT_WAITS);

    private final GatewayConfig config;
    private final Map<String, EnumSet<Feature>> byName = new HashMap<>();

    private UpstreamFeatures(GatewayConfig config) {
        this.config = config;
    }

    static UpstreamFeatures of(GatewayConfig config) {
        UpstreamFeatures features = new UpstreamFeatures(config);
        config.upstreams().forEach(features::add);
        for (RouteConfig route : config.routes()) {
            route.rules().forEach(features::add);
        }
        return features;
    }

    GatewayConfig config() {
        return config;
    }

    private void add(UpstreamConfig upstream) {
        EnumSet<Feature> features = EnumSet.noneOf(Feature.class);
        UpstreamConfig.HealthChecks checks = upstream.healthChecks();
        if (checks != null && checks.active() != null) {
            features.add(Feature.HEALTH_CHECKS);
        }
        if (upstream.sessionPersistence() != null) {
            features.add(Feature.SESSIONS);
        }
        byName.put(upstream.name(), features);
    }

    private void add(RuleConfig rule) {
        for (RuleConfig.BackendRef ref : rule.forwarding().backendRefs()) {
            EnumSet<Feature> features = byName.get(ref.name());
            if (features != null) {
                add(rule, features);
            }
        }
        for (FilterConfig filter : rule.filters()) {
            for (FilterConfig.UpstreamRef called : filter.upstreams()) {
                EnumSet<Feature> features = byName.get(called.name());
                if (features != null && filter.repeatsCalls()) {
                    features.add(Feature.RETRIES);
                }
            }
        }
    }

    private static void add(RuleConfig rule, EnumSet<Feature> features) {
        if (rule.timeouts().tunnel() != null) {
            features.add(Feature.TUNNELS);
        }
        if (rule.forwarding().retry().attempts() > 0) {
            features.add(Feature.RETRIES);
        }
        if (!rule.forwarding().retry().waiting().connectWait().isZero()) {
            features.add(Feature.CONNECT_WAITS);
        }
        if (rule.forwarding().hedge() != null) {
            features.add(Feature.HEDGES);
        }
    }

    /** Returns the features of an upstream. */
    Set<Feature> of(Upstream upstream) {
        EnumSet<Feature> features = EnumSet.noneOf(Feature.class);
        EnumSet<Feature> configured = byName.get(upstream.name());
        UpstreamSettings settings = upstream.settings();
        if (configured == null) {
            features.addAll(OF_OTHERS);
        } else {
            features.addAll(configured);
            Protocol protocol = settings.protocol();
            boolean http2 = protocol == Protocol.H2 || protocol == Protocol.H2C;
            if (http2 || (protocol == Protocol.AUTO && settings.tls() != null)) {
                features.add(Feature.HTTP2);
            }
            if (!http2) {
                features.add(Feature.HTTP1);
            }
        }
        if (settings.tls() != null) {
            features.add(Feature.TLS);
        }
        if (settings.maxLifetimeMillis() > 0) {
            features.add(Feature.MAX_LIFETIME);
        }
        return features;
    }
}
