package dev.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.route.WeightedTarget.Weighted;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightedTargetTest {
    private static Weighted weighted(String name, int weight) {
        UpstreamSettings settings = UpstreamSettings.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        return new Weighted(new Upstream(name, List.of(), hosts -> request -> null, settings), weight);
    }

    private static Map<String, Integer> choose(Route.Target target, int times) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < times; i++) {
            counts.merge(target.choose(null).name(), 1, Integer::sum);
        }
        return counts;
    }

    @ParameterizedTest
    @CsvSource({"1,1,100", "90,10,100", "1,2,90", "1,999,10000", "1000000,1000000,1000", "3,1,40"})
    void requestsAreSpreadByWeightAtEveryScale(int a, int b, int requests) {
        Route.Target target = WeightedTarget.of(List.of(weighted("a", a), weighted("b", b)));
        double share = (double) a / ((long) a + b);

        for (int round = 0; round < 20; round++) {
            assertThat((double) choose(target, requests).getOrDefault("a", 0))
                    .isBetween(share * requests - 4, share * requests + 4);
        }
    }

    @Test
    void weightZeroGetsNothing() {
        assertThat(choose(WeightedTarget.of(List.of(weighted("a", 0), weighted("b", 1), weighted("c", 0))), 100))
                .isEqualTo(Map.of("b", 100));
        assertThat(choose(WeightedTarget.of(List.of(weighted("a", 1), weighted("b", 0), weighted("c", 1))), 100)
                        .keySet())
                .containsExactlyInAnyOrder("a", "c");
    }

    @Test
    void noneWithAWeightAndNegativeWeightsAreRefused() {
        assertThatThrownBy(() -> WeightedTarget.of(List.of(weighted("a", 0))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> WeightedTarget.of(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> WeightedTarget.of(List.of(weighted("a", -1), weighted("b", 2))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void eventLoopsTogetherKeepTheShares() throws Exception {
        Route.Target target = WeightedTarget.of(List.of(weighted("a", 3), weighted("b", 1)));
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Map<String, Integer>>> loops = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                loops.add(() -> choose(target, 10_000));
            }
            int a = 0;
            for (Future<Map<String, Integer>> counts : threads.invokeAll(loops)) {
                a += counts.get().getOrDefault("a", 0);
            }
            assertThat(a).isBetween(29_990, 30_010);
        } finally {
            threads.shutdownNow();
        }
    }
}
