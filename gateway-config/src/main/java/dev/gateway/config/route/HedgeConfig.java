package dev.gateway.config.route;

import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;

/**
 * Hedging policy: when a request that takes long goes to a second endpoint, too.
 *
 * @param atLeast the minimum delay with a percentile
 * @param budget maximum number of hedges, in percent of the requests of the last ten seconds, 1 to 100
 * @param methods methods of these requests, upper case
 */
public record HedgeConfig(Position position, After after, Duration atLeast, int budget, List<String> methods) {

    public HedgeConfig {
        methods = List.copyOf(methods);
    }

    /**
     * How long the first endpoint has for its answer.
     *
     * @param perMille the part of the rule's answers at present that take no longer, such as 950; 0 if the time is fixed
     * @param fixed the fixed time; zero if it is a percentile
     */
    public record After(int perMille, Duration fixed) {
        private static final int PER_PERCENT = 10;

        /** Whether it is a percentile. */
        public boolean isPercentile() {
            return perMille > 0;
        }

        /** Returns the percentile as in the configuration, such as {@code p99.9}. */
        public String percentile() {
            return "p" + perMille / PER_PERCENT + (perMille % PER_PERCENT == 0 ? "" : "." + perMille % PER_PERCENT);
        }
    }
}
