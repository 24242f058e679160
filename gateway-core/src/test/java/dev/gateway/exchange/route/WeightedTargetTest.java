package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.upstream.SessionPersistenceConfig.SameSite;
import dev.gateway.exchange.route.WeightedTarget.Weighted;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightedTargetTest {
    private static Weighted weighted(String name, int weight) {
        UpstreamSettings settings = UpstreamValues.builder()
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

    private static Upstream sticky(String name, int endpoints) {
        UpstreamSettings settings = UpstreamValues.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        List<Endpoint> all = IntStream.range(0, endpoints)
                .mapToObj(i -> new Endpoint(i, "10.0.0." + (i + 1), 80, 1))
                .toList();
        List<String> keys = List.of("0123456789abcdef0123456789abcdef");
        return new Upstream(name, all, RoundRobin::new, settings)
                .persist(new SessionPersistence(name, "sid", () -> keys, 0, SameSite.LAX, () -> 1_000));
    }

    private static RequestHead request(Upstream upstream, int endpoint) {
        SessionPersistence sessions = Objects.requireNonNull(upstream.sessions());
        AsciiString cookie = sessions.begin(new Endpoint(endpoint, "10.0.0." + (endpoint + 1), 80, 1), false);
        Fields fields = new Fields();
        fields.add(FieldName.COOKIE, new AsciiString(cookie.toString().replaceAll(";.*", "")));
        return new RequestHead(
                Method.GET, AsciiString.of("http"), AsciiString.of("a.test"), AsciiString.of("/"), fields, 0);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "1,99", "0,1"})
    void aSessionStaysAtTheUpstreamThatTheWeightsGaveFirst(int ofOld, int ofNew) {
        Upstream old = sticky("old", 2);
        Upstream next = sticky("next", 2);
        Route.Target target = WeightedTarget.of(List.of(new Weighted(old, ofOld), new Weighted(next, ofNew)));
        for (int i = 0; i < 20; i++) {
            assertThat(target.choose(null, request(old, 1))).isSameAs(old);
            assertThat(target.choose(null, request(next, 0))).isSameAs(next);
        }
    }

    @Test
    void withoutItsEndpointASessionStaysOnlyWhereNewOnesBegin() {
        Upstream old = sticky("old", 2);
        Upstream next = sticky("next", 1);
        RequestHead request = request(old, 1);
        old.health().drain("10.0.0.2:80", true);
        Route.Target even = WeightedTarget.of(List.of(new Weighted(next, 99), new Weighted(old, 1)));
        assertThat(even.choose(null, request)).isSameAs(old);
        Route.Target none = WeightedTarget.of(List.of(new Weighted(next, 1), new Weighted(old, 0)));
        assertThat(none.choose(null, request)).isSameAs(next);
        old.health().drain("10.0.0.1:80", true);
        assertThat(choose(even, request, 20)).as("no endpoint is left").contains("next");
    }

    private static Set<String> choose(Route.Target target, RequestHead request, int times) {
        Set<String> names = new HashSet<>();
        for (int i = 0; i < times; i++) {
            names.add(target.choose(null, request).name());
        }
        return names;
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
