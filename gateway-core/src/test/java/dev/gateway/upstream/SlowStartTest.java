package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.upstream.balancer.RoundRobin;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Endpoints that join others get a share that rises, in virtual time. */
class SlowStartTest {
    private static final ActiveCheck CHECK = CheckValues.TCP;
    private static final OutlierDetection OUTLIERS =
            new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 1, 10_000, 10_000, 50);
    private static final int WINDOW_SECONDS = 30;

    private long nanos = Long.MAX_VALUE - 1; // it may wrap
    private int balancers;

    @Test
    void whoIsThereFromTheBeginningHasAllOfItsShare() {
        assertThat(factors(health(3, OUTLIERS))).containsExactly(1.0, 1.0, 1.0);
    }

    @Test
    void whoIsWellAgainGetsATenthFirstAndMoreEachSecond() {
        Health health = health(3, null);
        health.onChecked(endpoint(1), "refused");
        second(health);
        health.onChecked(endpoint(1), null);
        assertThat(factors(health)).containsExactly(1.0, 0.1, 1.0);
        for (int i = 1; i < WINDOW_SECONDS; i++) {
            second(health);
            assertThat(factors(health).get(1)).isCloseTo(Math.max(0.1, i / 30.0), within(1e-9));
        }
        second(health);
        assertThat(factors(health)).containsExactly(1.0, 1.0, 1.0);
        int made = balancers;
        second(health);
        assertThat(balancers).as("no balancer is made without a reason").isEqualTo(made);
    }

    @Test
    void soDoesWhoReturnsFromAnEjection() {
        Health health = health(2, OUTLIERS);
        health.onUnanswered(endpoint(0), 0, 0);
        for (int i = 0; i < 10; i++) {
            assertThat(health.balancer().choose(BalancedRequest.after())).isEqualTo(endpoint(1));
            second(health);
        }
        assertThat(factors(health)).containsExactly(0.1, 1.0);
        second(health);
        second(health);
        second(health);
        second(health);
        assertThat(factors(health).get(0)).as("of 30 seconds 4").isCloseTo(4 / 30.0, within(1e-9));
    }

    @Test
    void whoHasBegunBeginsAgainWhenItWasAway() {
        Health health = health(2, null);
        health.onChecked(endpoint(0), "refused");
        health.onChecked(endpoint(0), null);
        for (int i = 0; i < 15; i++) {
            second(health);
        }
        assertThat(factors(health).get(0)).isEqualTo(0.5);
        health.onChecked(endpoint(0), "refused");
        health.onChecked(endpoint(0), null);
        assertThat(factors(health).get(0)).isEqualTo(0.1);
    }

    @Test
    void whoOnlyReplacesAllOthersHasNobodyToShareWith() {
        Health health = health(2, null);
        health.onChecked(endpoint(0), "refused");
        health.onChecked(endpoint(1), "refused"); // so both are chosen
        health.onChecked(endpoint(0), null);
        assertThat(factors(health)).as("it was chosen all the time").containsExactly(1.0, 1.0);
        health.onChecked(endpoint(1), null);
        assertThat(factors(health)).containsExactly(1.0, 0.1);
    }

    @Test
    void theNextGenerationGoesOnAndItsNewEndpointsBegin() {
        Health before = health(2, null);
        before.onChecked(endpoint(1), "refused");
        before.onChecked(endpoint(1), null);
        for (int i = 0; i < 15; i++) {
            second(before);
        }
        Health next = health(3, null);
        next.inherit(before);
        assertThat(factors(next)).containsExactly(1.0, 0.5, 0.1);
    }

    private Health health(int count, @Nullable OutlierDetection outliers) {
        List<Endpoint> endpoints =
                IntStream.range(0, count).mapToObj(SlowStartTest::endpoint).toList();
        return new Health(
                endpoints,
                hosts -> {
                    balancers++;
                    return new RoundRobin(hosts);
                },
                new HealthSettings(outliers, CHECK, 0, WINDOW_SECONDS * 1000L),
                () -> nanos);
    }

    private static Endpoint endpoint(int index) {
        return new Endpoint(index, "192.0.2." + index, 80, 10);
    }

    private static List<Double> factors(Health health) {
        List<Double> factors = new ArrayList<>();
        for (Host host : health.hosts()) {
            assertThat(host.weight()).isCloseTo(10 * host.slowStart(), within(1e-9));
            factors.add(host.slowStart());
        }
        return factors;
    }

    private void second(Health health) {
        nanos += TimeUnit.SECONDS.toNanos(1);
        health.review();
    }
}
