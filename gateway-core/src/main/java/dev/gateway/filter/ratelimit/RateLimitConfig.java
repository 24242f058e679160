package dev.gateway.filter.ratelimit;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.format.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Rate limiting filter settings: how many requests or bytes may come, and how many requests may be in flight.
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
        return RateLimitFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": " + limits.stream().map(Limit::summary).collect(Collectors.joining("; "));
    }

    @Override
    public List<String> usedClaims() {
        return limits.stream()
                .flatMap(limit -> limit.key().stream())
                .map(KeyPart::claim)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    @Override
    public List<StoreRef> stores() {
        return limits.stream()
                .flatMap(limit -> Stream.ofNullable(limit.store()).map(store -> new StoreRef(limit, store)))
                .toList();
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean onlyLimits() {
        return true;
    }

    @Override
    public String listenerKeys() {
        return "limits: {maxConnectionsPerClient: …, maxAcceptRate: …}";
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
     * @param store the name of the store where several gateways count together, null if this one counts alone
     */
    public record Limit(
            Position position,
            String name,
            @Nullable Rate rate,
            int maxInFlight,
            List<KeyPart> key,
            @Nullable String store) {
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
            return name + " allows " + most() + ", counted for " + whose
                    + (store == null ? "" : ", by all gateways in store " + store);
        }
    }

    /** What a rate counts. */
    public enum Unit {
        REQUESTS,
        BYTES
    }

    /**
     * How many requests or bytes may come.
     *
     * @param burst at once
     */
    public record Rate(Unit unit, long quota, Duration interval, long burst) {
        private String summary() {
            String inTime = (unit == Unit.BYTES ? bytes(quota) : requests(quota)) + " in " + Durations.print(interval);
            return burst == quota ? inTime : inTime + " and " + burst + " at once";
        }
    }

    /** A part of requests; exactly one is there. */
    public record KeyPart(
            Position position,
            boolean client,
            boolean identity,
            @Nullable String header,
            @Nullable String cookie,
            @Nullable String queryParameter,
            @Nullable String claim) {
        /** Returns what it is, in words. */
        public String summary() {
            if (header != null) {
                return "header " + header;
            } else if (cookie != null) {
                return "cookie " + cookie;
            } else if (claim != null) {
                return "claim " + claim;
            }
            return queryParameter != null ? "query parameter " + queryParameter : client ? "client" : "identity";
        }
    }

    private static String requests(long count) {
        return count == 1 ? "1 request" : count + " requests";
    }

    private static String bytes(long count) {
        return count == 1 ? "1 byte" : count + " bytes";
    }
}
