package dev.gateway.config;

import java.time.Duration;
import java.util.List;

/**
 * Hedging policy: when a request that takes long goes to a second endpoint, too.
 *
 * @param atLeast the shortest time after which it does, whatever the percentile
 * @param budget such requests in percent of those of the last ten seconds, 1 to 100
 * @param methods of the requests, upper case
 */
public record HedgeConfig(Position position, After after, Duration atLeast, int budget, List<String> methods) {

    public HedgeConfig {
        methods = List.copyOf(methods);
    }

    /**
     * How long the first endpoint has for its answer.
     *
     * @param perMille the part of the rule's answers at present that take no longer, such as 950; 0 if the time is fixed
     * @param fixed zero if it is not
     */
    public record After(int perMille, Duration fixed) {
        private static final int PER_PERCENT = 10;

        /** Whether it follows what answers take at present. */
        public boolean isPercentile() {
            return perMille > 0;
        }

        /** Returns how it is written, such as {@code p99.9}, if it is a percentile. */
        public String percentile() {
            return "p" + perMille / PER_PERCENT + (perMille % PER_PERCENT == 0 ? "" : "." + perMille % PER_PERCENT);
        }
    }
}
