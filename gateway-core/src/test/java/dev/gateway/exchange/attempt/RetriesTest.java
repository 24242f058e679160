package dev.gateway.exchange.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.RetryConfig.On;
import dev.gateway.exchange.attempt.Retries.Tried;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route.Retry;
import dev.gateway.message.Method;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RetriesTest implements Retries.Limits {
    private static final Failure TIMED_OUT = Failure.of(Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, "test");
    private static final Failure UNREACHED = Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "test");
    private static final Failure REFUSED = Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS, "test");
    private static final Failure STALE =
            new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.IF_IDEMPOTENT, true, "test");
    private static final Tried SENT = new Tried(true, true, false);
    private static final Tried UNSENT = new Tried(false, true, false);
    private static final Tried SENT_TO_FAILING = new Tried(true, true, true);

    private int budget = Integer.MAX_VALUE;
    private long left = Long.MAX_VALUE;

    @Override
    public boolean tryTakeRetry(Budget asked) {
        return budget-- > 0;
    }

    @Override
    public long leftMillis() {
        return left;
    }

    @Override
    public long random(long most) {
        return most;
    }

    private Retries retries(String method, Retry policy) {
        return new Retries(Method.of(method), policy, 5, this);
    }

    private Retries retries(String method, int attempts, long backoffMillis) {
        return retries(method, new Retry(attempts, Set.of(503), backoffMillis));
    }

    private static Retry policy(On failure, String method, boolean retryAfter) {
        Set<On> on = EnumSet.of(failure, On.RETRIABLE_STATUS);
        return RetryValues.of(2, on, Set.of(503), method, RetryValues.waiting(10, retryAfter, 0, 0), Budget.UNLIMITED);
    }

    @Test
    void theLongestWaitIsTwiceTheOneBeforeUpToThirtyTwoTimesTheFirst() {
        Retries retries = retries("GET", 8, 25);
        List<Long> delays = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            delays.add(retries.afterStatus(0));
        }
        assertThat(delays).containsExactly(25L, 50L, 100L, 200L, 400L, 800L, 800L, 800L, Retries.NONE);
        assertThat(retries.refusal()).isEqualTo(Cause.RETRY_LIMIT);
    }

    @Test
    void failuresAndStatusesCountTogether() {
        Retries retries = retries("GET", 3, 10);
        assertThat(retries.afterFailure(TIMED_OUT, SENT)).isEqualTo(10);
        assertThat(retries.afterStatus(0)).isEqualTo(20);
        assertThat(retries.afterFailure(TIMED_OUT, SENT)).isEqualTo(40);
        assertThat(retries.afterFailure(TIMED_OUT, SENT)).isEqualTo(Retries.NONE);
        assertThat(retries.afterStatus(0)).isEqualTo(Retries.NONE);
    }

    @Test
    void aMethodThatMayActTwiceIsNotSentAgain() {
        assertThat(retries("POST", 3, 10).afterFailure(TIMED_OUT, SENT)).isEqualTo(Retries.NONE);
        assertThat(retries("POST", 3, 10).afterFailure(STALE, SENT)).isEqualTo(Retries.NONE);
        assertThat(retries("POST", 3, 10).afterSilence(true)).isEqualTo(Retries.NONE);
        assertThat(retries("POST", 3, 10).afterSilence(false)).isEqualTo(Retries.NONE);
        assertThat(retries("POST", 3, 10).isFailure(503)).isFalse();
        assertThat(retries("GET", 3, 10).isFailure(503)).isTrue();
        assertThat(retries("GET", 3, 10).isFailure(502)).isFalse();
        assertThat(retries("GET", 0, 10).isFailure(503)).isFalse();
    }

    @Test
    void theOperatorSaysWhichMethodsMayActTwice() {
        Retry policy = policy(On.RESET, "POST", false);
        assertThat(retries("POST", policy).afterFailure(TIMED_OUT, SENT)).isEqualTo(10);
        assertThat(retries("POST", policy).isFailure(503)).isTrue();
        assertThat(retries("GET", policy).afterFailure(TIMED_OUT, SENT)).isEqualTo(Retries.NONE);
        assertThat(retries("GET", policy).afterFailure(STALE, SENT)).isZero();
    }

    @Test
    void whatIsNotListedIsNotSentAgain() {
        Retry resets = policy(On.RESET, "GET", false);
        Tried alone = new Tried(false, false, false);
        assertThat(retries("GET", resets).afterFailure(UNREACHED, alone)).isEqualTo(Retries.NONE);
        assertThat(retries("GET", resets).afterFailure(TIMED_OUT, SENT)).isEqualTo(10);
        Retry reach = policy(On.CONNECT_FAILURE, "GET", false);
        assertThat(retries("GET", reach).afterFailure(UNREACHED, alone)).isEqualTo(10);
        assertThat(retries("GET", reach).afterFailure(TIMED_OUT, SENT)).isEqualTo(Retries.NONE);
        assertThat(retries("GET", reach).afterSilence(true)).isEqualTo(Retries.NONE);
    }

    @Test
    void whatIsFreeIsSentAgainAtOnceAndLeavesTheDelaysAsTheyAre() {
        Retries retries = retries("POST", 2, 10);
        for (int i = 0; i < 3; i++) {
            assertThat(retries.afterFailure(REFUSED, SENT)).isZero();
        }
        assertThat(retries.afterFailure(REFUSED, SENT)).isEqualTo(10);
        assertThat(retries.afterFailure(REFUSED, SENT)).isEqualTo(20);
        assertThat(retries.afterFailure(REFUSED, SENT)).isEqualTo(Retries.NONE);
    }

    @Test
    void noBudgetForbidsWhatIsFree() {
        budget = 0;
        Retries retries = retries("GET", 1, 10);
        assertThat(retries.afterFailure(REFUSED, SENT)).isZero();
        assertThat(retries.afterFailure(STALE, SENT)).isZero();
        for (int i = 0; i < 4; i++) {
            assertThat(retries.afterFailure(UNREACHED, UNSENT)).isZero();
        }
        assertThat(retries.refusal()).isNull();
        assertThat(retries.afterFailure(UNREACHED, UNSENT)).isEqualTo(Retries.NONE);
        assertThat(retries.refusal()).isEqualTo(Cause.RETRY_BUDGET);
    }

    @Test
    void theBudgetForbidsWhatThePolicyAllows() {
        budget = 1;
        Retries retries = retries("GET", 3, 10);
        assertThat(retries.afterStatus(0)).isEqualTo(10);
        assertThat(retries.afterStatus(0)).isEqualTo(Retries.NONE);
        assertThat(retries.refusal()).isEqualTo(Cause.RETRY_BUDGET);
        assertThat(retries.afterSilence(true)).isEqualTo(Retries.NONE);
        assertThat(retries.refusal()).isEqualTo(Cause.RETRY_BUDGET);
        assertThat(retries.afterFailure(UNREACHED, UNSENT)).as("free").isZero();
        assertThat(retries.refusal()).as("of what was asked last").isNull();
    }

    /** A request that kills who gets it must not go through all of them, but a dead endpoint is not the request's doing. */
    @Test
    void endpointsThatHadFailedBeforeDoNotCount() {
        Retries retries = retries("GET", 1, 10);
        for (int i = 0; i < 3; i++) {
            assertThat(retries.afterFailure(TIMED_OUT, SENT_TO_FAILING)).isZero();
        }
        assertThat(retries.afterSilence(true)).isZero();
        assertThat(retries.afterSilence(true)).isEqualTo(10); // of five, four others have been tried
        assertThat(retries.afterFailure(TIMED_OUT, SENT)).isEqualTo(Retries.NONE);
    }

    /** A request that is slow everywhere must not run on every endpoint. */
    @Test
    void endpointsOfWhichNoneAnswersCount() {
        Retries retries = retries("GET", 1, 10);
        assertThat(retries.afterSilence(false)).isEqualTo(10);
        assertThat(retries.afterSilence(false)).isEqualTo(Retries.NONE);
        assertThat(retries.afterSilence(true)).isZero();
    }

    @Test
    void nobodyWaitsForWhatThereIsNoTimeFor() {
        left = 10;
        Retries retries = retries("GET", 3, 10);
        assertThat(retries.afterStatus(0)).isEqualTo(Retries.NONE);
        assertThat(retries.refusal()).isNull();
        assertThat(budget).as("retries not taken").isEqualTo(Integer.MAX_VALUE);
        left = 11;
        assertThat(retries.afterStatus(0)).isEqualTo(10);
        assertThat(retries.afterStatus(0)).isEqualTo(Retries.NONE);
        left = 21;
        assertThat(retries.afterStatus(0)).isEqualTo(20);
    }

    @Test
    void anEndpointCanAskForALongerWait() {
        Retry policy = policy(On.RETRIABLE_STATUS, "GET", true);
        assertThat(retries("GET", policy).afterStatus(3000)).isEqualTo(3000);
        assertThat(retries("GET", policy).afterStatus(5)).isEqualTo(10);
        assertThat(retries("GET", policy).afterStatus(10_001)).isEqualTo(Retries.NONE);
        Retry deaf = policy(On.RETRIABLE_STATUS, "GET", false);
        assertThat(retries("GET", deaf).afterStatus(3000)).isEqualTo(10);
    }
}
