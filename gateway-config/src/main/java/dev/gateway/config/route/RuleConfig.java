package dev.gateway.config.route;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.UncheckedFilterConfig;
import dev.gateway.config.observe.AccessLogConfig.Choice;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Route rule (HTTPRouteRule): what happens to requests that match.
 *
 * @param name unique in its route; null if none is written
 * @param matches alternatives, at least one
 * @param filters as written; the gateway runs them by kind, those of one kind in this order
 * @param accessLog null if nothing is said
 */
public record RuleConfig(
        Position position,
        @Nullable String name,
        List<MatchConfig> matches,
        List<FilterConfig> filters,
        Forwarding forwarding,
        Timeouts timeouts,
        Upgrades upgrades,
        @Nullable Choice accessLog) {

    public RuleConfig {
        matches = List.copyOf(matches);
        filters = List.copyOf(filters);
    }

    /** Whether it has filters that were not checked. */
    public boolean hasUncheckedFilters() {
        return filters.stream().anyMatch(UncheckedFilterConfig.class::isInstance);
    }

    /** Whether it refuses requests, or asks who sends them. */
    public boolean guards() {
        return filters.stream().anyMatch(FilterConfig::guards);
    }

    /** Whether a filter guards the rule by more than limits. */
    public boolean guardsAccess() {
        return filters.stream().anyMatch(filter -> filter.guards() && !filter.onlyLimits());
    }

    /**
     * Where requests go, and how.
     *
     * @param backendRefs the upstreams to choose from by weight; empty only if a filter answers every request
     * @param hedge null if no request goes to a second endpoint because the first takes long
     * @param preserveHost whether the upstream sees the client's host, or else the endpoint's
     * @param mergeSlashes whether the upstream sees one slash where the client's path has several
     * @param normalizePath whether the upstream sees the normal form of the path, or else the path as it came
     */
    public record Forwarding(
            List<BackendRef> backendRefs,
            RetryConfig retry,
            @Nullable HedgeConfig hedge,
            boolean preserveHost,
            boolean mergeSlashes,
            boolean normalizePath) {
        public Forwarding {
            backendRefs = List.copyOf(backendRefs);
        }
    }

    /**
     * An upstream, by its name.
     *
     * @param weight its share relative to its siblings; 0 for none
     */
    public record BackendRef(Position position, String name, int weight) {}

    /**
     * Time limits of an exchange, zero for none.
     *
     * @param request from the request's head to the response's end
     * @param backendRequest of each attempt
     * @param streamIdle without a byte in either direction
     * @param tunnel not null exactly in routes of TLS and TCP listeners, where nothing else of this applies
     */
    public record Timeouts(
            Position position,
            Duration request,
            Duration backendRequest,
            Duration streamIdle,
            @Nullable TunnelTimeouts tunnel) {}

    /**
     * What requests may become besides requests.
     *
     * @param tokens of protocols that requests may upgrade to, lower case
     * @param webSocket for WebSockets; its time limits also for other upgrades, except halfClosed
     */
    public record Upgrades(List<String> tokens, WebSocket webSocket) {
        public Upgrades {
            tokens = List.copyOf(tokens);
        }
    }

    /**
     * What WebSockets may do.
     *
     * @param allowedOrigins as browsers write them in Origin, lower case; empty for all
     */
    public record WebSocket(Position position, TunnelTimeouts timeouts, List<String> allowedOrigins) {
        public WebSocket {
            allowedOrigins = List.copyOf(allowedOrigins);
        }
    }
}
