package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RetriesTest {
    private static final Failure TIMED_OUT = Failure.of(Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, "test");

    private static Retries retries(String method, int attempts, long backoffMillis) {
        return Retries.of(ExchangeRig.head(method, "/"), new Route.Retry(attempts, Set.of(503), backoffMillis), 3);
    }

    @Test
    void eachDelayIsTwiceTheOneBeforeUpToThirtyTwoTimesTheFirst() {
        Retries retries = retries("GET", 8, 25);
        List<Long> delays = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            delays.add(retries.afterStatus());
        }
        assertThat(delays).containsExactly(25L, 50L, 100L, 200L, 400L, 800L, 800L, 800L, Retries.NONE);
    }

    @Test
    void failuresAndStatusesCountTogether() {
        Retries retries = retries("GET", 3, 10);
        assertThat(retries.afterFailure(TIMED_OUT, true, true)).isEqualTo(10);
        assertThat(retries.afterStatus()).isEqualTo(20);
        assertThat(retries.afterFailure(TIMED_OUT, true, true)).isEqualTo(40);
        assertThat(retries.afterFailure(TIMED_OUT, true, true)).isEqualTo(Retries.NONE);
        assertThat(retries.afterStatus()).isEqualTo(Retries.NONE);
    }

    @Test
    void aMethodThatMayActTwiceIsNotSentAgain() {
        assertThat(retries("POST", 3, 10).afterFailure(TIMED_OUT, true, true)).isEqualTo(Retries.NONE);
        assertThat(retries("POST", 3, 10).isFailure(503)).isFalse();
        assertThat(retries("GET", 3, 10).isFailure(503)).isTrue();
        assertThat(retries("GET", 3, 10).isFailure(502)).isFalse();
        assertThat(retries("GET", 0, 10).isFailure(503)).isFalse();
    }

    @Test
    void whatIsFreeIsSentAgainAtOnceAndLeavesTheDelaysAsTheyAre() {
        Failure unprocessed = Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS, "test");
        Retries retries = retries("POST", 2, 10);
        for (int i = 0; i < 3; i++) {
            assertThat(retries.afterFailure(unprocessed, true, true)).isZero();
        }
        assertThat(retries.afterFailure(unprocessed, true, true)).isEqualTo(10);
        assertThat(retries.afterFailure(unprocessed, true, true)).isEqualTo(20);
        assertThat(retries.afterFailure(unprocessed, true, true)).isEqualTo(Retries.NONE);
    }
}
