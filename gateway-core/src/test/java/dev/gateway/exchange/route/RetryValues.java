package dev.gateway.exchange.route;

import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.config.route.RetryConfig.Waiting;
import dev.gateway.config.route.RetryConfig.When;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Policies of retries that stand in no file; times are in milliseconds. */
public final class RetryValues {
    /** Any failure, and the statuses that a policy names. */
    public static final Set<On> ALL = EnumSet.complementOf(EnumSet.of(On.GATEWAY_ERROR));

    private RetryValues() {}

    /** Makes a policy for requests with one method, which keeps 1 KiB of a body. */
    public static Route.Retry of(
            int attempts, Set<On> on, Set<Integer> codes, String method, Waiting waiting, Budget budget) {
        return of(attempts, new When(on, codes, List.of(method)), waiting, 1024, budget);
    }

    /** Makes a policy. */
    public static Route.Retry of(int attempts, When when, Waiting waiting, int kept, Budget budget) {
        return new Route.Retry(new RetryConfig(Position.NOWHERE, attempts, when, waiting, kept, budget));
    }

    /** Returns how long is waited. */
    public static Waiting waiting(long backoff, boolean retryAfter, long silent, long connect) {
        return new Waiting(
                Duration.ofMillis(backoff), retryAfter, Duration.ofMillis(silent), Duration.ofMillis(connect));
    }

    /** Returns a budget. */
    public static Budget budget(int percent, int minPerSecond) {
        return new Budget(Position.NOWHERE, percent, minPerSecond);
    }
}
