package dev.gateway.upstream.balancer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RoundRobinTest {
    @Test
    void endpointsTakeTurns() {
        assertThat(chosen(balancer(1, 1, 1), 7)).containsExactly(0, 1, 2, 0, 1, 2, 0);
    }

    @Test
    void weightsAreKeptAndSpreadEvenly() {
        assertThat(chosen(balancer(5, 1, 1), 7)).containsExactly(0, 0, 0, 1, 0, 0, 2);
        assertThat(chosen(balancer(100, 50), 6)).containsExactly(0, 0, 1, 0, 0, 1);
    }

    @Test
    void hugeWeightsLeaveEveryEndpointItsShare() {
        List<Integer> chosen = chosen(balancer(1_000_000, 999_999, 1), 40_000);
        assertThat(chosen).contains(0, 1, 2);
        assertThat(chosen.stream().filter(index -> index == 0).count()).isBetween(19_900L, 20_100L);
    }

    @Test
    void theEndpointThatFailedIsAvoidedWhereThereIsAnother() {
        RoundRobin balancer = balancer(3, 1);
        Endpoint failed = new Endpoint(0, "10.0.0.0", 80, 3);
        for (int i = 0; i < 8; i++) {
            assertThat(index(balancer.choose(BalancedRequest.after(failed)))).isEqualTo(1);
        }
        Endpoint only = new Endpoint(0, "10.0.0.0", 80, 1);
        assertThat(index(balancer(1).choose(BalancedRequest.after(only)))).isZero();
    }

    @Test
    void anUpstreamWithoutEndpointsHasNone() {
        assertThat(new RoundRobin(List.of()).choose(BalancedRequest.after())).isNull();
    }

    @Test
    void aWeightOfZeroCountsAsOne() {
        assertThat(chosen(balancer(0, 1), 4)).containsExactly(0, 1, 0, 1);
    }

    @Test
    void weightsWithoutACommonDivisorAreKeptExactly() {
        List<Integer> chosen = chosen(balancer(7, 5), 12);
        assertThat(chosen.stream().filter(index -> index == 0)).hasSize(7);
        assertThat(chosen(balancer(14, 10), 12)).as("the shortest turn").isEqualTo(chosen);
    }

    @Test
    void ofSeveralOthersTheNextInTurnStandsInForTheOneThatFailed() {
        RoundRobin balancer = balancer(1, 1, 1);
        Endpoint failed = new Endpoint(1, "10.0.0.1", 80, 1);
        List<Integer> chosen = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            chosen.add(index(balancer.choose(BalancedRequest.after(failed))));
        }
        assertThat(chosen).containsExactly(0, 2, 2, 0, 2, 2);
    }

    @Test
    void theTurnGoesOnWhenItsCounterOverflows() throws ReflectiveOperationException {
        RoundRobin balancer = balancer(1, 1, 1);
        Field next = RoundRobin.class.getDeclaredField("next");
        next.setAccessible(true);
        ((AtomicInteger) next.get(balancer)).set(Integer.MAX_VALUE - 1);
        assertThat(chosen(balancer, 5)).doesNotContain(-1).contains(0, 1, 2);
    }

    @Test
    void ofFewerEndpointsEachGetsItsTurn() {
        Endpoint only = new Endpoint(1, "10.0.0.1", 80, 1);
        assertThat(over(List.of(only)).choose(BalancedRequest.after(only))).isEqualTo(only);
    }

    @Test
    void theNextBalancerOfAnUpstreamContinuesTheTurn() {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            hosts.add(new Host(new Endpoint(i, "10.0.0." + i, 80, 1)));
        }
        Balancer.Policy policy = RoundRobin.policy();
        int[] chosen = new int[10];
        for (int i = 0; i < 30; i++) { // as during a slow start, or while checks flap
            Balancer balancer = policy.over(hosts);
            for (int request = 0; request < 3; request++) {
                chosen[index(balancer.choose(BalancedRequest.after()))]++;
            }
        }
        assertThat(chosen).containsOnly(9);
    }

    /** They would skip endpoints, because a request of one would take the other's turn. */
    @Test
    void balancersOfTwoZonesHaveTheirOwnTurns() {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            hosts.add(new Host(new Endpoint(i, "10.0.0." + i, 80, 1)));
        }
        Balancer.Policy policy = RoundRobin.policy();
        Balancer near = policy.over(hosts.subList(0, 3));
        Balancer far = policy.over(hosts.subList(3, 6));
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 3; i++) {
                assertThat(index(near.choose(BalancedRequest.after()))).isEqualTo(i);
                assertThat(index(far.choose(BalancedRequest.after()))).isEqualTo(3 + i);
            }
        }
    }

    private static RoundRobin over(List<Endpoint> endpoints) {
        return new RoundRobin(endpoints.stream().map(Host::new).toList());
    }

    private static RoundRobin balancer(int... weights) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            endpoints.add(new Endpoint(i, "10.0.0." + i, 80, weights[i]));
        }
        return over(endpoints);
    }

    private static List<Integer> chosen(RoundRobin balancer, int count) {
        List<Integer> chosen = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            chosen.add(index(balancer.choose(BalancedRequest.after())));
        }
        return chosen;
    }

    private static int index(@Nullable Endpoint endpoint) {
        return endpoint == null ? -1 : endpoint.index();
    }
}
