package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.upstream.balancer.RoundRobin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Endpoints that fail now and then, but never many times in a row, in virtual time. */
class SuccessRatesTest {
    private static final int INTERVAL_SECONDS = 10;

    private long nanos;
    private final List<String> told = new ArrayList<>();

    @Test
    void whoSucceedsLessOftenThanTheOthersIsEjected() {
        Health health = health(5, 5, 100, 1900);
        serve(health, 100, 100, 100, 100, 60);
        assertThat(health.report(endpoint(4)).state()).isEqualTo(Health.State.HEALTHY);
        interval(health);
        assertThat(told).containsExactly("4 succeeds too seldom (60.0 % of requests, on average 92.0 %), 4 left");
        assertThat(health.hosts().get(0).successRate()).isEqualTo(1);
    }

    @Test
    void thatHoldsForOneIntervalAfterTheOther() {
        Health health = health(5, 5, 100, 1900);
        serve(health, 100, 100, 100, 100, 99);
        interval(health);
        serve(health, 100, 100, 100, 100, 99);
        interval(health);
        assertThat(told).as("a small difference is none").isEmpty();
        serve(health, 100, 100, 100, 50, 100);
        interval(health);
        assertThat(told).hasSize(1);
        serve(health, 100, 100, 100, 0, 0); // of the four that are left, too few for a comparison
        interval(health);
        assertThat(told).hasSize(1);
    }

    @Test
    void allThatFailAlikeStay() {
        Health health = health(5, 5, 100, 1900);
        serve(health, 50, 52, 48, 51, 49);
        interval(health);
        assertThat(told).isEmpty();
    }

    @Test
    void whoHadTooFewRequestsIsNotCompared() {
        Health health = health(5, 5, 101, 1900);
        serve(health, 100, 100, 100, 100, 0);
        interval(health);
        assertThat(told).isEmpty();
        assertThat(health.hosts().get(0).successRate()).isNaN();
    }

    @Test
    void theLimitOfEjectionsHolds() {
        Health health = health(10, 5, 100, 100); // at most half
        serve(health, 100, 100, 100, 100, 0, 10, 20, 30, 40, 50);
        interval(health);
        assertThat(told).as("the worst first").hasSize(5).first().asString().startsWith("4 succeeds");
        assertThat(health.report(endpoint(9)).state()).isEqualTo(Health.State.HEALTHY);
    }

    @Test
    void failuresInARowNeedNotCount() {
        Health health = health(5, 5, 100, 1900);
        for (int i = 0; i < 50; i++) {
            health.onUnanswered(endpoint(0), 0, 0);
        }
        assertThat(told).isEmpty();
    }

    /** Answers 100 requests of each endpoint, of which so many are good. */
    private static void serve(Health health, int... good) {
        for (int i = 0; i < good.length; i++) {
            for (int n = 0; n < 100; n++) {
                if (n < good[i]) {
                    health.onAnswered(endpoint(i), 200);
                    health.onServed(endpoint(i));
                } else {
                    health.onAnswered(endpoint(i), 500);
                }
            }
        }
    }

    private void interval(Health health) {
        for (int i = 0; i < INTERVAL_SECONDS; i++) {
            nanos += TimeUnit.SECONDS.toNanos(1);
            health.review();
        }
    }

    private Health health(int count, int hosts, int volume, int factor) {
        List<Endpoint> endpoints =
                IntStream.range(0, count).mapToObj(SuccessRatesTest::endpoint).toList();
        UpstreamConfig.OutlierDetection config = new UpstreamConfig.OutlierDetection(
                Position.NOWHERE,
                0,
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                50,
                new UpstreamConfig.SuccessRate(Duration.ofSeconds(INTERVAL_SECONDS), hosts, volume, factor));
        OutlierDetection policy = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, config);
        Health health = new Health(endpoints, RoundRobin::new, policy, null, () -> nanos);
        health.tell(new HealthListener() {
            @Override
            public void onEjected(Endpoint endpoint, String reason, long millis, int inService) {
                told.add(endpoint.index() + " " + reason + ", " + inService + " left");
            }

            @Override
            public void onReturned(Endpoint endpoint) {}

            @Override
            public void onChecked(Endpoint endpoint, @Nullable String failure, int inService) {}

            @Override
            public void onPanic(boolean panic, int inService) {}
        });
        return health;
    }

    private static Endpoint endpoint(int index) {
        return new Endpoint(index, "192.0.2." + index, 80, 1);
    }
}
