package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.stream.Cause;
import dev.gateway.testing.Seeds;
import dev.gateway.upstream.balancer.LeastRequest;
import dev.gateway.upstream.balancer.PeakEwma;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.balancer.WeightedRandom;
import dev.gateway.upstream.balancer.hash.ConsistentHash;
import dev.gateway.upstream.balancer.hash.HashKey;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An upstream whose endpoints come and go. */
class UpstreamUpdateTest {
    private static final OutlierDetection OUTLIERS =
            new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 3, 1000, 10_000, 50);

    private long nanos;

    private Upstream upstream(int maxConnections) {
        Health health = new Health(List.of(), RoundRobin::new, OUTLIERS, null, () -> nanos);
        return new Upstream(
                "app",
                health,
                UpstreamValues.builder().maxConnections(maxConnections).build());
    }

    private static EndpointSpec spec(int number, double weight) {
        String host = "192.0.2." + number;
        return new EndpointSpec(host, 80, weight, host, null, EndpointSpec.STATIC);
    }

    private static List<String> hosts(Upstream upstream) {
        return upstream.endpoints().stream().map(Endpoint::host).toList();
    }

    @Test
    void whoStaysKeepsItsStateAndItsIndex() {
        Upstream upstream = upstream(0);
        upstream.update(List.of(spec(1, 1), spec(2, 1), spec(3, 1)));
        Host second = upstream.hosts().get(1);
        second.failures.set(2);
        List<Host> gone = upstream.update(List.of(spec(4, 1), spec(2, 5), spec(5, 1)));
        assertThat(gone).extracting(Host::toString).containsExactly("192.0.2.1:80", "192.0.2.3:80");
        assertThat(gone).allMatch(Host::isGone).noneMatch(Host::isChosen);
        assertThat(hosts(upstream)).containsExactly("192.0.2.4", "192.0.2.2", "192.0.2.5");
        assertThat(upstream.hosts().get(1)).isSameAs(second);
        assertThat(second.weight()).isEqualTo(5);
        assertThat(upstream.endpoints()).extracting(Endpoint::index).containsExactly(0, 1, 2);
    }

    @Test
    void whatIsToldOfOneThatHasGoneIsForgotten() {
        Upstream upstream = upstream(0);
        upstream.update(List.of(spec(1, 1), spec(2, 1)));
        Endpoint gone = upstream.endpoints().get(0);
        upstream.update(List.of(spec(2, 1), spec(3, 1)));
        Health health = upstream.health();
        for (int i = 0; i < 10; i++) {
            health.onUnreached(gone, Cause.CONNECT_FAILED);
            health.onAnswered(gone, 500);
            health.onUnanswered(gone, 0, 0);
            health.onServed(gone);
            health.onChecked(gone, "refused");
        }
        assertThat(health.report(gone).state()).isEqualTo(Health.State.DRAINING);
        assertThat(upstream.endpoints()).allMatch(each -> health.report(each).state() == Health.State.HEALTHY);
        assertThat(upstream.host(gone).isGone()).isTrue();
        assertThat(upstream.host(gone).isChosen()).isFalse();
    }

    @Test
    void anEndpointThatChangesItsZoneKeepsItsState() {
        ActiveCheck check = CheckValues.TCP;
        Health health =
                new Health(List.of(), RoundRobin::new, new HealthSettings(OUTLIERS, check, 0, 10_000), () -> nanos);
        Upstream upstream = new Upstream("app", health, UpstreamValues.builder().build());
        upstream.begin(List.of(inZone(1, "a"), inZone(2, "a"), inZone(3, "a"), inZone(4, "a")));
        health.drain("192.0.2.1:80", true);
        health.onChecked(upstream.endpoints().get(1), "refused");
        for (int i = 0; i < 3; i++) {
            health.onAnswered(upstream.endpoints().get(2), 500);
        }
        List<Host> gone = upstream.update(List.of(inZone(1, "b"), inZone(2, "b"), inZone(3, "b"), inZone(4, "b")));
        assertThat(gone).hasSize(4).allMatch(Host::isGone);
        assertThat(upstream.endpoints())
                .extracting(each -> health.report(each).state())
                .containsExactly(
                        Health.State.DRAINING, Health.State.UNHEALTHY, Health.State.EJECTED, Health.State.HEALTHY);
        assertThat(upstream.hosts()).extracting(Host::isChosen).containsExactly(false, false, false, true);
        assertThat(upstream.hosts().get(3).slowStart()).as("it is not new").isEqualTo(1);
        upstream.update(List.of(inZone(4, "b"), inZone(5, "b")));
        assertThat(upstream.hosts().get(1).slowStart()).as("it is new").isLessThan(1);
    }

    @Test
    void theFirstEndpointsOfSeveralSourcesDoNotStartSlowly() {
        Health health = new Health(List.of(), RoundRobin::new, new HealthSettings(null, null, 0, 10_000), () -> nanos);
        Upstream upstream = new Upstream("app", health, UpstreamValues.builder().build());
        upstream.begin(List.of(spec(1, 1)));
        upstream.begin(List.of(spec(1, 1), spec(2, 1)));
        assertThat(upstream.hosts()).extracting(Host::slowStart).containsExactly(1.0, 1.0);
    }

    private static EndpointSpec inZone(int number, String zone) {
        String host = "192.0.2." + number;
        return new EndpointSpec(host, 80, 1, host, zone, EndpointSpec.STATIC);
    }

    static List<Balancer.Policy> policies() {
        List<HashKey> keys = List.of(new HashKey(HashKey.Source.CLIENT, "", false));
        return List.of(
                RoundRobin::new,
                LeastRequest::new,
                WeightedRandom::new,
                PeakEwma::new,
                hosts -> new ConsistentHash(hosts, keys, 150));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void withoutEndpointsNoneIsChosenUntilOneComes(Balancer.Policy policy) {
        Upstream upstream = new Upstream(
                "app",
                new Health(List.of(), policy, OUTLIERS, null, () -> nanos),
                UpstreamValues.builder().build());
        BalancerContext request = BalancedRequest.after();
        assertThat(upstream.balancer().choose(request)).isNull();
        upstream.update(List.of(spec(1, 1), spec(2, 1)));
        assertThat(upstream.balancer().choose(request)).isNotNull();
        List<Host> gone = upstream.update(List.of());
        assertThat(gone).hasSize(2);
        assertThat(upstream.balancer().choose(request)).isNull();
        assertThat(upstream.health().isPanic()).isFalse();
        upstream.health().review();
    }

    @Test
    void severalOfOneAddressAreOne() {
        Upstream upstream = upstream(0);
        upstream.update(List.of(spec(1, 1), spec(2, 1), spec(1, 2.5)));
        assertThat(hosts(upstream)).containsExactly("192.0.2.1", "192.0.2.2");
        assertThat(upstream.hosts().get(0).weight()).isEqualTo(3.5);
    }

    @Test
    void anEntryKeepsItsShareHoweverManyAddressesItHas() {
        Upstream upstream = upstream(0);
        List<EndpointSpec> specs = new ArrayList<>(List.of(spec(1, 90)));
        for (int i = 2; i < 9; i++) {
            specs.add(spec(i, 10 / 7.0));
        }
        upstream.update(specs);
        Map<String, Integer> chosen = new HashMap<>();
        for (int i = 0; i < 100_000; i++) {
            chosen.merge(choose(upstream).host(), 1, Integer::sum);
        }
        assertThat(chosen).hasSize(8);
        assertThat(chosen.get("192.0.2.1")).isBetween(89_500, 90_500);
    }

    @Test
    void nothingIsLeftOfTenThousandUpdates() {
        Upstream upstream = upstream(100);
        for (int i = 0; i < 10_000; i++) {
            upstream.update(List.of(spec(i % 251, 1), spec(i % 241, 1), spec(i % 239, 1)));
            assertThat(upstream.endpoints()).allMatch(each -> each.index() < 3);
        }
        assertThat(upstream.connections().shares()).isBetween(2, 4);
        assertThat(upstream.requests().shares()).isBetween(2, 4);
    }

    /** Against a model: who is chosen, what is taken of the limit, and that all is given back in the end. */
    @ParameterizedTest
    @Seeds(8)
    void whateverComesAndGoesNoPermitIsLost(long seed) {
        for (long run = 0; run < 100; run++) {
            new Schedule(new Random(seed * 1000 + run)).run();
        }
    }

    private Endpoint choose(Upstream upstream) {
        Endpoint chosen = upstream.balancer().choose(BalancedRequest.after());
        assertThat(chosen).isNotNull();
        return Objects.requireNonNull(chosen);
    }

    private final class Schedule {
        private static final int MAX = 12;
        private static final int STEPS = 200;
        private final Random random;
        private final Upstream upstream = upstream(MAX);
        private final List<Host> held = new ArrayList<>();
        private List<EndpointSpec> wanted = List.of();

        Schedule(Random random) {
            this.random = random;
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                step();
                check();
            }
            while (!held.isEmpty()) {
                give();
                check();
            }
            assertThat(upstream.connections().taken()).isZero();
            upstream.hosts().forEach(host -> upstream.health().drain(host.toString(), false));
            nanos += 100_000_000_000L;
            upstream.health().review(); // nobody is ejected any more
            upstream.update(List.of(spec(1, 1), spec(2, 3)));
            int all = 0;
            while (all <= MAX
                    && (upstream.hosts().get(all % 2).connections().tryAcquire()
                            || upstream.hosts().get((all + 1) % 2).connections().tryAcquire())) {
                all++;
            }
            assertThat(all).isEqualTo(MAX); // not one was lost, and not one is too many
        }

        private void step() {
            switch (random.nextInt(8)) {
                case 0 -> update();
                case 1 -> {
                    if (!wanted.isEmpty()) {
                        upstream.health().drain(any().toString(), random.nextBoolean());
                    }
                }
                case 2 -> {
                    if (!wanted.isEmpty()) {
                        upstream.health().onUnanswered(any().endpoint(), 0, 0);
                    }
                }
                case 3 -> {
                    nanos += 500_000_000;
                    upstream.health().review();
                }
                case 4, 5 -> take();
                default -> give();
            }
        }

        private void update() {
            List<EndpointSpec> next = new ArrayList<>();
            for (int number = 0; number < 6; number++) {
                if (random.nextInt(3) > 0) {
                    next.add(spec(number, 1 + random.nextInt(3)));
                }
            }
            wanted = next;
            upstream.update(next);
        }

        private Host any() {
            return upstream.hosts().get(random.nextInt(upstream.hosts().size()));
        }

        private void take() {
            Endpoint chosen = upstream.balancer().choose(BalancedRequest.after());
            if (chosen != null) {
                Host host = upstream.host(chosen);
                assertThat(host.isChosen()).isTrue();
                if (host.connections().tryAcquire()) {
                    held.add(host);
                }
            }
        }

        private void give() {
            if (!held.isEmpty()) {
                held.remove(random.nextInt(held.size())).connections().release();
            }
        }

        private void check() {
            assertThat(hosts(upstream))
                    .isEqualTo(wanted.stream().map(EndpointSpec::host).toList());
            assertThat(upstream.connections().taken()).isEqualTo(held.size());
            assertThat(upstream.hosts()).allMatch(host -> host.connections().taken() >= 0);
            assertThat(upstream.endpoints().stream().map(Endpoint::index)).doesNotHaveDuplicates();
        }
    }
}
