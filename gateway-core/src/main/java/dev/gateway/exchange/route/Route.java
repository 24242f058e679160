package dev.gateway.exchange.route;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.value.Position;
import dev.gateway.filter.Filter;
import dev.gateway.format.Durations;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathForm;
import dev.gateway.observe.LogPolicy;
import dev.gateway.stream.Identity;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Route at run time. How a matched request is handled: one rule of a configured route. Immutable, shared by all event
 * loops.
 *
 * @param name for logs and metrics: the configured route's name, with the rule's position if it has several
 * @param filters in the order they see requests; responses pass them in reverse
 * @param signature by which requests that come back are known, null if they are not looked for
 * @param logPolicy of its exchanges, null for what the access log does by itself
 */
public record Route(
        String name,
        List<Filter> filters,
        Forwarding forwarding,
        Timeouts timeouts,
        Upgrades upgrades,
        @Nullable ViaSignature signature,
        @Nullable LogPolicy logPolicy) {

    /** Makes a route that signs nothing, and says nothing of the access log. */
    public Route(String name, List<Filter> filters, Forwarding forwarding, Timeouts timeouts, Upgrades upgrades) {
        this(name, filters, forwarding, timeouts, upgrades, null, null);
    }

    /** Whether one of its filters refuses requests, or asks who sends them. */
    public boolean guards() {
        for (int i = 0; i < filters.size(); i++) {
            if (filters.get(i).guards()) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of its filters guards it by more than limits. */
    public boolean guardsAccess() {
        for (int i = 0; i < filters.size(); i++) {
            if (filters.get(i).guards() && !filters.get(i).onlyLimits()) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of its filters refuses every request. */
    public boolean refusesAll() {
        for (int i = 0; i < filters.size(); i++) {
            if (filters.get(i).refusesAll()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Where requests go, and how.
     *
     * @param target null if a filter answers every request
     * @param hedging when a request goes to a second endpoint because the first takes long, null for never
     * @param preserveHost whether the upstream sees the client's host, or else the endpoint's
     * @param path in which form the upstream sees the path
     */
    public record Forwarding(
            @Nullable Target target, Retry retry, @Nullable Hedging hedging, boolean preserveHost, PathForm path) {
        /** No request goes anywhere. */
        public static final Forwarding NONE = to(null);

        /** Makes one that sends no request to a second endpoint before the first has failed. */
        public Forwarding(@Nullable Target target, Retry retry, boolean preserveHost) {
            this(target, retry, null, preserveHost, PathForm.NORMAL);
        }

        /** Returns one with the client's host, and without further attempts. */
        public static Forwarding to(@Nullable Target target) {
            return new Forwarding(target, Retry.NONE, true);
        }
    }

    /** Where requests go. */
    public interface Target {
        /**
         * Chooses an upstream; called on any event loop.
         *
         * @param client whose request it is, null if no filter has found out
         */
        Upstream choose(@Nullable Identity client);

        /** Chooses an upstream for a request, which may have a session in one of them. */
        default Upstream choose(@Nullable Identity client, RequestHead head) {
            return choose(client);
        }
    }

    /**
     * Time limits in milliseconds, 0 for none.
     *
     * @param requestMillis the whole exchange, from the request's head to the response's end
     * @param backendRequestMillis each attempt, from its start to the response's end
     * @param streamIdleMillis without a byte in either direction
     * @param tunnel what holds instead once the exchange has become a tunnel
     */
    public record Timeouts(
            long requestMillis, long backendRequestMillis, long streamIdleMillis, TunnelTimeouts tunnel) {
        /** No time limits. */
        public static final Timeouts NONE = new Timeouts(0, 0, 0, TunnelTimeouts.NONE);
    }

    /**
     * When a request is sent again. Attempts that provably reached nobody are made again whatever this says.
     *
     * @param methods of requests that may have been processed
     * @param silentMillis how long an endpoint may answer nobody before another is tried, 0 for ever
     * @param connectMillis how long a request is tried again for which no connection can be made, 0 for not at all
     */
    public record Retry(RetryConfig config, Set<Method> methods, long silentMillis, long connectMillis) {
        private static final int DEFAULT_BUFFER = 64 * 1024;
        private static final List<String> IDEMPOTENT = List.of("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE");

        /** No attempts but the first. */
        public static final Retry NONE = new Retry(0, Set.of(), 0);

        /** Makes the policy that is configured. */
        public Retry(RetryConfig config) {
            this(
                    config,
                    config.when().methods().stream().map(Method::of).collect(Collectors.toUnmodifiableSet()),
                    Durations.millis(config.waiting().silentAfter()),
                    Durations.millis(config.waiting().connectWait()));
        }

        /** Makes a policy without a budget, for any failure of idempotent requests. */
        public Retry(int attempts, Set<Integer> codes, long backoffMillis) {
            this(new RetryConfig(
                    Position.NOWHERE,
                    attempts,
                    new RetryConfig.When(EnumSet.complementOf(EnumSet.of(On.GATEWAY_ERROR)), codes, IDEMPOTENT),
                    new RetryConfig.Waiting(Duration.ofMillis(backoffMillis), false, Duration.ZERO, Duration.ZERO),
                    DEFAULT_BUFFER,
                    RetryConfig.Budget.UNLIMITED));
        }

        /** Returns how much of a request's body is kept for another attempt. */
        public int bufferBytes() {
            return Math.toIntExact(config.bufferLimit());
        }
    }

    /**
     * When the gateway makes a second attempt while the first one runs.
     *
     * @param delay how long the first attempt has for its answer
     * @param percent maximum number of second attempts, in percent of the upstream's requests
     * @param methods methods of requests that two endpoints may process
     */
    public record Hedging(HedgeDelay delay, int percent, Set<Method> methods) {}

    /**
     * What requests may become besides requests.
     *
     * @param tokens of protocols, in lower case, such as {@code websocket}
     * @param origins of the pages that may ask for it, in lower case; empty for all. A client that names none is no
     *     browser that a page has made ask
     */
    public record Upgrades(Set<AsciiString> tokens, Set<AsciiString> origins) {
        /** No upgrades. */
        public static final Upgrades NONE = new Upgrades(Set.of(), Set.of());
    }
}
