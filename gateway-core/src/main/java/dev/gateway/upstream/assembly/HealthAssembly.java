package dev.gateway.upstream.assembly;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.format.Durations;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Health factory. Turns what the configuration says of the health of endpoints into what looks after them. */
final class HealthAssembly {
    /** Of upstreams that say nothing of it: five failures in a row, that is, of which each can only be the endpoint's own. */
    private static final OutlierDetection PROTECTION =
            new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 30_000, 300_000, 50);

    private HealthAssembly() {}

    /** Makes the health of an upstream, which has no endpoints yet. */
    static Health health(UpstreamConfig config, Balancer.Policy balancing, @Nullable String localZone) {
        UpstreamConfig.HealthChecks checks = config.healthChecks();
        OutlierDetection outliers = outliers(checks == null ? null : checks.outlierDetection());
        HealthSettings settings = new HealthSettings(
                outliers,
                checks == null ? null : checks.active(),
                config.panicThreshold(),
                Durations.millis(config.slowStart()),
                balancing.ignoresZones() ? null : localZone,
                checks != null && checks.closeOnFailure());
        return new Health(List.of(), balancing, settings, System::nanoTime);
    }

    private static @Nullable OutlierDetection outliers(UpstreamConfig.@Nullable OutlierDetection config) {
        if (config == null) {
            return PROTECTION;
        }
        return config.consecutive5xx() == 0 && config.successRate() == null
                ? null
                : new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, config);
    }
}
