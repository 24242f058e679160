package dev.gateway.config;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What happens to requests that match.
 *
 * @param matches alternatives, at least one
 * @param filters in the order in which they see requests
 * @param backendRefs the upstreams to choose from by weight; empty only if a filter answers every request
 * @param preserveHost whether the upstream sees the client's host, or else the endpoint's
 */
public record RuleConfig(
        Position position,
        List<MatchConfig> matches,
        List<FilterConfig> filters,
        List<BackendRef> backendRefs,
        Timeouts timeouts,
        Retry retry,
        boolean preserveHost) {

    public RuleConfig {
        matches = List.copyOf(matches);
        filters = List.copyOf(filters);
        backendRefs = List.copyOf(backendRefs);
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
     */
    public record Timeouts(Position position, Duration request, Duration backendRequest, Duration streamIdle) {}

    /**
     * When a request is sent again.
     *
     * @param attempts how many further attempts may be made, 0 for none
     * @param codes response statuses that count as failed
     * @param backoff the least wait before a further attempt
     */
    public record Retry(Position position, int attempts, Set<Integer> codes, Duration backoff) {
        public Retry {
            codes = Set.copyOf(codes);
        }
    }
}
