package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig.SuccessRate;
import java.util.ArrayList;
import java.util.List;

/**
 * Success rates: finds endpoints that succeed less often than the others of their upstream, even if they never fail many
 * times in a row. Guarded by its {@link Health}.
 */
final class SuccessRates {
    /** A smaller difference never ejects: with all others at 100 %, one failure would be many standard deviations off. */
    private static final double LEAST_DIFFERENCE = 0.05;

    private static final double STDEV_UNIT = 1000;

    private final SuccessRate policy;
    private long begun;

    SuccessRates(SuccessRate policy, long now) {
        this.policy = policy;
        this.begun = now;
    }

    /**
     * An endpoint that succeeds too seldom.
     *
     * @param rate its success rate
     * @param average the average rate of all endpoints with enough requests
     */
    record Outlier(Host host, double rate, double average) {
        String reason() {
            return "succeeds too seldom (" + percent(rate) + " % of requests, on average " + percent(average) + " %)";
        }

        private static double percent(double part) {
            return Math.round(part * 1000) / 10.0;
        }
    }

    /** Ends the interval if its time is over; returns the endpoints that succeed too seldom, the worst first. */
    List<Outlier> review(List<Host> hosts, long now) {
        if (now - begun < policy.interval().toNanos()) {
            return List.of();
        }
        begun = now;
        List<Host> judged = new ArrayList<>();
        for (Host host : hosts) {
            if (host.endInterval(policy.requestVolume()) && host.isInService()) {
                judged.add(host);
            }
        }
        return judged.size() < policy.minimumHosts() ? List.of() : outliers(judged);
    }

    private List<Outlier> outliers(List<Host> judged) {
        double average =
                judged.stream().mapToDouble(Host::successRate).average().orElse(1);
        double variance = judged.stream()
                .mapToDouble(host -> (host.successRate() - average) * (host.successRate() - average))
                .average()
                .orElse(0);
        double least = average - Math.sqrt(variance) * policy.stdevFactor() / STDEV_UNIT;
        return judged.stream()
                .filter(host -> host.successRate() < Math.min(least, average - LEAST_DIFFERENCE))
                .map(host -> new Outlier(host, host.successRate(), average))
                .sorted((one, other) -> Double.compare(one.rate, other.rate))
                .toList();
    }
}
