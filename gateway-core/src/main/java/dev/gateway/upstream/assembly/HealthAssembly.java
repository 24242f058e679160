package dev.gateway.upstream.assembly;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.format.Durations;
import dev.gateway.upstream.ActiveCheck;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import java.time.Duration;
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
        ActiveCheck active = checks == null ? null : active(checks.active());
        HealthSettings settings = new HealthSettings(
                outliers,
                active,
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
        UpstreamConfig.SuccessRate rate = config.successRate();
        return config.consecutive5xx() == 0 && rate == null
                ? null
                : new OutlierDetection(
                        OutlierDetection.Counts.ANY_FAILURE,
                        config.consecutive5xx(),
                        Durations.millis(config.baseEjectionTime()),
                        Durations.millis(config.maxEjectionTime()),
                        config.maxEjectionPercent(),
                        rate == null
                                ? null
                                : new OutlierDetection.SuccessRate(
                                        Durations.millis(rate.interval()),
                                        rate.minimumHosts(),
                                        rate.requestVolume(),
                                        rate.stdevFactor()));
    }

    private static @Nullable ActiveCheck active(UpstreamConfig.@Nullable ActiveCheck config) {
        if (config == null) {
            return null;
        }
        Duration unhealthyInterval = config.unhealthyInterval();
        return new ActiveCheck(
                request(config.request()),
                Durations.millis(config.interval()),
                Durations.millis(unhealthyInterval == null ? config.interval() : unhealthyInterval),
                Durations.millis(config.timeout()),
                config.healthyThreshold(),
                config.unhealthyThreshold());
    }

    private static ActiveCheck.Request request(UpstreamConfig.CheckRequest config) {
        if (config instanceof UpstreamConfig.HttpCheck http) {
            return new ActiveCheck.Http(
                    http.path(),
                    http.host(),
                    http.expectedStatuses().stream()
                            .map(each -> new ActiveCheck.Statuses(each.first(), each.last()))
                            .toList());
        } else if (config instanceof UpstreamConfig.GrpcCheck grpc) {
            return new ActiveCheck.Grpc(grpc.service());
        }
        return new ActiveCheck.Tcp();
    }
}
