package dev.gateway.exchange.route.assembly;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.exchange.route.Route.Retry;
import dev.gateway.exchange.route.Route.Retry.After;
import dev.gateway.format.Durations;
import dev.gateway.message.Method;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** Retry policy factory: turns what is configured of retries into what exchanges ask. */
final class RetryAssembly {
    private static final Set<Integer> GATEWAY_ERRORS = Set.of(502, 503, 504);

    private RetryAssembly() {}

    static Retry policy(RetryConfig config) {
        RetryConfig.When when = config.when();
        Set<After> failures = EnumSet.noneOf(After.class);
        Set<Integer> statuses = new HashSet<>();
        for (On on : when.on()) {
            switch (on) {
                case CONNECT_FAILURE -> failures.add(After.CONNECT_FAILURE);
                case RESET -> failures.add(After.RESET);
                case REFUSED_STREAM -> failures.add(After.REFUSED_STREAM);
                case GATEWAY_ERROR -> statuses.addAll(GATEWAY_ERRORS);
                case RETRIABLE_STATUS -> statuses.addAll(when.codes());
            }
        }
        RetryConfig.Waiting waiting = config.waiting();
        return new Retry(
                config.attempts(),
                new Retry.When(
                        Set.copyOf(failures),
                        Set.copyOf(statuses),
                        when.methods().stream().map(Method::of).collect(Collectors.toUnmodifiableSet())),
                new Retry.Waiting(
                        Durations.millis(waiting.backoff()),
                        waiting.retryAfter(),
                        Durations.millis(waiting.silentAfter()),
                        Durations.millis(waiting.connectWait())),
                Math.toIntExact(config.bufferLimit()),
                new Retry.Budget(config.budget().percent(), config.budget().minRetriesPerSecond()));
    }
}
