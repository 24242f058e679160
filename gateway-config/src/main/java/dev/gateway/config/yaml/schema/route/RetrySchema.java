package dev.gateway.config.yaml.schema.route;

import static java.util.Map.entry;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.config.route.RetryConfig.Waiting;
import dev.gateway.config.route.RetryConfig.When;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** When requests are sent again, key by key. */
final class RetrySchema {
    private static final long DEFAULT_BUFFER = 64 * 1024;
    private static final long MAX_BUFFER = 1024 * 1024; // another attempt gets all of it at once
    private static final int DEFAULT_PERCENT = 20;
    private static final int DEFAULT_PER_SECOND = 10;

    private static final ScalarType<On> ON = Types.words(
            Types.ordered(
                    entry("connectFailure", On.CONNECT_FAILURE),
                    entry("reset", On.RESET),
                    entry("refusedStream", On.REFUSED_STREAM),
                    entry("gatewayError", On.GATEWAY_ERROR),
                    entry("retriableStatus", On.RETRIABLE_STATUS)),
            Map.of(),
            Map.ofEntries(
                    entry("5xx", "write gatewayError, or retriableStatus with codes"), // Envoy
                    entry("4xx", "write retriableStatus with codes"),
                    entry("retriable4xx", "write retriableStatus with codes"), // Envoy
                    entry("retriablestatuscodes", "retriableStatus"), // Envoy
                    entry("connfailure", "connectFailure"), // HAProxy
                    entry("emptyresponse", "reset"), // HAProxy
                    entry("junkresponse", "reset"), // HAProxy
                    entry("responsetimeout", "reset"), // HAProxy
                    entry("timeout", "reset"), // nginx
                    entry("error", "write connectFailure and reset"), // nginx
                    entry("http500", "write retriableStatus with codes: [500]"), // nginx
                    entry("http502", "gatewayError"),
                    entry("http503", "gatewayError"),
                    entry("http504", "gatewayError"),
                    entry("http429", "write retriableStatus with codes: [429]")));

    private static final ObjectType<Budget> BUDGET = ObjectType.of(
            "retry budget section",
            "How many retries an upstream takes. It holds for all routes and event loops together.",
            o -> {
                var percent = o.defaulted(
                        "percent",
                        Types.integer(0, 100)
                                .explained(text -> text.matches("0\\.[0-9]{1,2}")
                                        ? ": write "
                                                + new BigDecimal(text)
                                                        .movePointRight(2)
                                                        .intValue()
                                        : ""),
                        DEFAULT_PERCENT,
                        Budget::percent,
                        "Retries as a share of the requests of the last ten seconds.");
                var least = o.defaulted(
                        "minRetriesPerSecond",
                        Types.integer(0, 1_000_000),
                        DEFAULT_PER_SECOND,
                        Budget::minRetriesPerSecond,
                        "Retries in a second that are possible with few requests, too.");
                o.single(text -> text.matches("[1-9]?[0-9]%|100%") ? "{percent: " + text.replace("%", "") + "}" : null);
                return v -> new Budget(v.position(), v.get(percent), v.get(least));
            });

    /** When requests of a rule are sent again. */
    static final ObjectType<RetryConfig> RETRY = ObjectType.of(
            "retry section",
            "When the gateway sends a request again. It needs no policy if an endpoint could not be reached and there "
                    + "is another. Nor if an endpoint provably did not process the request, or a kept connection was closed "
                    + "and the method is idempotent.",
            o -> {
                var attempts = o.defaulted(
                        "attempts",
                        Types.integer(0, 10),
                        1,
                        RetryConfig::attempts,
                        "Maximum number of further attempts. 0 means none.");
                var on = o.optional(
                        "on",
                        new ListType<>(ON, 1),
                        retry -> List.copyOf(retry.when().on()),
                        "After what. The default is connectFailure, reset, refusedStream, and gatewayError (502, 503, "
                                + "504); with codes, retriableStatus takes the place of gatewayError. A time limit of "
                                + "the attempt counts as reset.");
                var codes = o.defaulted(
                        "codes",
                        new ListType<>(Types.integer(400, 599), 0),
                        List.<Integer>of(),
                        retry -> retry.when().codes().stream().sorted().toList(),
                        "Response statuses that are retriable.");
                var methods = o.defaulted(
                        "methods",
                        new ListType<>(Types.METHOD, 1),
                        List.of("GET", "HEAD", "OPTIONS"),
                        retry -> retry.when().methods(),
                        "Methods of requests that the gateway sends again although an endpoint may have processed "
                                + "them.");
                var waiting = declareWaiting(o);
                var buffer = o.defaulted(
                        "bufferLimit",
                        Types.SIZE,
                        DEFAULT_BUFFER,
                        RetryConfig::bufferLimit,
                        "How much of the body of a request the gateway keeps for another attempt, at most 1MiB. A "
                                + "request that has sent more is not sent again.");
                var budget = o.section(
                        "budget",
                        BUDGET,
                        RetryConfig::budget,
                        "How many retries an upstream takes, for all routes and event loops together.");
                o.single("attempts");
                o.foreign(
                        "perTryTimeout perTryIdleTimeout attemptTimeout",
                        "write timeouts: {backendRequest: …} into the rule");
                o.foreign("timeout", "write timeouts: {request: …} into the rule");
                o.foreign("initialInterval interval delay baseInterval retryBackOff", "backoff");
                o.foreign("retriableStatusCodes statusCodes statuses", "codes");
                o.foreign("count retries tries maxRetries", "attempts");
                return v -> {
                    checkUse(v, v.get(attempts), v.get(codes), v.find(on));
                    if (v.get(buffer) > MAX_BUFFER) {
                        v.error(v.at("bufferLimit"), "bufferLimit: expected a size of at most 1MiB");
                    }
                    List<On> written = v.find(on);
                    return new RetryConfig(
                            v.position(),
                            v.get(attempts),
                            new When(
                                    written == null ? events(v.get(codes)) : Set.copyOf(written),
                                    new LinkedHashSet<>(v.get(codes)),
                                    v.get(methods)),
                            waiting.of(v),
                            v.get(buffer),
                            v.get(budget));
                };
            });

    private RetrySchema() {}

    /** The keys of how long the gateway waits. */
    private record WaitingKeys(
            Key<RetryConfig, Duration> backoff,
            Key<RetryConfig, Boolean> retryAfter,
            Key<RetryConfig, Duration> silentAfter,
            Key<RetryConfig, Duration> connectWait) {
        Waiting of(Values v) {
            return new Waiting(v.get(backoff), v.get(retryAfter), v.get(silentAfter), v.get(connectWait));
        }
    }

    private static WaitingKeys declareWaiting(ObjectType.Declaration<RetryConfig> o) {
        return new WaitingKeys(
                o.defaulted(
                        "backoff",
                        Types.DURATION,
                        Duration.ofMillis(25),
                        retry -> retry.waiting().backoff(),
                        "Maximum wait before the first further attempt. It doubles for each one after that, up to 32 "
                                + "times. The wait is a random part of it."),
                o.defaulted(
                        "retryAfter",
                        Types.BOOLEAN,
                        true,
                        retry -> retry.waiting().retryAfter(),
                        "Whether a Retry-After header of an endpoint delays the next attempt at this endpoint, or at "
                                + "any if the status is 429. A response that asks for more than 10s is forwarded."),
                o.defaulted(
                        "silentAfter",
                        Types.DURATION,
                        Duration.ZERO,
                        retry -> retry.waiting().silentAfter(),
                        "How long an endpoint may answer none of its requests before the gateway tries another "
                                + "endpoint, though its connections are alive. 0s means no limit."),
                o.defaulted(
                        "connectWait",
                        Types.DURATION,
                        Duration.ofSeconds(3),
                        retry -> retry.waiting().connectWait(),
                        "How long a request waits and is tried again if no endpoint can be reached, such as during a "
                                + "restart. Nothing was sent, so the method does not matter. 0s means that it fails at "
                                + "once."));
    }

    private static Set<On> events(List<Integer> codes) {
        Set<On> events = EnumSet.allOf(On.class);
        events.remove(codes.isEmpty() ? On.RETRIABLE_STATUS : On.GATEWAY_ERROR);
        return events;
    }

    private static void checkUse(Values v, int attempts, List<Integer> codes, @Nullable List<On> on) {
        boolean retriable = on == null || on.contains(On.RETRIABLE_STATUS);
        if (attempts == 0 && !codes.isEmpty()) {
            v.warning(v.atKey("codes"), "codes has no effect, as 'attempts' is 0");
        } else if (!codes.isEmpty() && !retriable) {
            v.warning(v.atKey("codes"), "codes has no effect without retriableStatus in 'on'");
        } else if (codes.isEmpty() && on != null && retriable) {
            v.error(v.at("on"), "retriableStatus needs 'codes', the statuses");
        }
    }
}
