package dev.gateway.config;

import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rate limiting filter settings: how many requests may come, and how many may be in flight.
 *
 * @param limits all of which a request must keep to
 * @param includeHeaders whether responses have RateLimit and RateLimit-Policy
 */
public record RateLimitConfig(Position position, List<Limit> limits, boolean includeHeaders) implements FilterConfig {
    public RateLimitConfig {
        limits = List.copyOf(limits);
    }

    @Override
    public String type() {
        return "RateLimit";
    }

    @Override
    public String summary() {
        return type() + ": " + limits.stream().map(Limit::summary).collect(Collectors.joining("; "));
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /**
     * One limit.
     *
     * @param rate null if it is a limit of requests in flight
     * @param maxInFlight 0 if it is a limit of the rate
     * @param key requests in which these parts are the same count together; empty for all requests
     */
    public record Limit(Position position, String name, @Nullable Rate rate, int maxInFlight, List<KeyPart> key) {
        public Limit {
            key = List.copyOf(key);
        }

        /** Returns how much it allows, in words. */
        public String most() {
            return rate == null ? requests(maxInFlight) + " in flight" : rate.summary();
        }

        private String summary() {
            String whose = key.isEmpty()
                    ? "all requests"
                    : "each " + key.stream().map(KeyPart::summary).collect(Collectors.joining(" and "));
            return name + " allows " + most() + ", counted for " + whose;
        }
    }

    /**
     * How many requests may come.
     *
     * @param burst at once
     */
    public record Rate(int requests, Duration interval, int burst) {
        private String summary() {
            String inTime = RateLimitConfig.requests(requests) + " in " + Durations.print(interval);
            return burst == requests ? inTime : inTime + " and " + burst + " at once";
        }
    }

    /** A part of requests; exactly one is there. */
    public record KeyPart(
            Position position,
            boolean client,
            boolean identity,
            @Nullable String header,
            @Nullable String cookie,
            @Nullable String queryParameter) {
        /** Returns what it is, in words. */
        public String summary() {
            if (header != null) {
                return "header " + header;
            } else if (cookie != null) {
                return "cookie " + cookie;
            }
            return queryParameter != null ? "query parameter " + queryParameter : client ? "client" : "identity";
        }
    }

    private static String requests(int count) {
        return count == 1 ? "1 request" : count + " requests";
    }
}
