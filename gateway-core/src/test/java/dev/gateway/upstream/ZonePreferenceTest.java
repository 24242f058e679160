package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.upstream.balancer.LeastRequest;
import dev.gateway.upstream.balancer.PeakEwma;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.balancer.WeightedRandom;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests stay in their zone as far as its endpoints can take them, with each policy. */
class ZonePreferenceTest {
    private static final int REQUESTS = 50_000;

    private final SplittableRandom random = new SplittableRandom(27);
    private long nanos;

    enum Kind {
        ROUND_ROBIN,
        LEAST_REQUEST,
        RANDOM,
        PEAK_EWMA
    }

    private Balancer.Policy policy(Kind kind) {
        return switch (kind) {
            case ROUND_ROBIN -> RoundRobin::new;
            case LEAST_REQUEST -> hosts -> new LeastRequest(hosts, random::nextLong);
            case RANDOM -> hosts -> new WeightedRandom(hosts, random::nextLong);
            case PEAK_EWMA -> hosts -> new PeakEwma(hosts, random::nextLong, () -> nanos);
        };
    }

    /** Makes an upstream whose endpoints are in these zones; {@code -} stands for no zone. */
    private static Health health(Balancer.Policy policy, @Nullable String localZone, String... zones) {
        return health(policy, localZone, 0, zones);
    }

    private static Health health(
            Balancer.Policy policy, @Nullable String localZone, int panicThreshold, String... zones) {
        ActiveCheck check = CheckValues.TCP;
        Health health = new Health(
                List.of(), policy, new HealthSettings(null, check, panicThreshold, 0, localZone, false), () -> 0);
        health.update(specs(zones), true);
        return health;
    }

    private static List<EndpointSpec> specs(String... zones) {
        List<EndpointSpec> specs = new ArrayList<>();
        for (int i = 0; i < zones.length; i++) {
            String zone = zones[i].equals("-") ? null : zones[i];
            specs.add(new EndpointSpec("10.0.0." + i, 80, 1, "10.0.0." + i, zone, EndpointSpec.STATIC));
        }
        return specs;
    }

    private static void unhealthy(Health health, int... positions) {
        for (int position : positions) {
            health.onChecked(health.endpoints().get(position), "answered 503");
        }
    }

    /** Returns the share of each endpoint, of requests of which so many are in flight at a time. */
    private Map<Integer, Double> shares(Health health, int concurrency) {
        Map<Integer, Double> shares = new HashMap<>();
        List<Host> inFlight = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            nanos += 1000;
            if (inFlight.size() == concurrency) {
                Host done = inFlight.remove(random.nextInt(concurrency));
                done.requests().release();
                done.latency().add(1_000_000 + random.nextInt(100_000), nanos);
            }
            Endpoint chosen = health.balancer().choose(BalancedRequest.after());
            if (chosen == null) {
                throw new AssertionError("nothing was chosen");
            }
            Host host = health.host(chosen);
            if (host == null) {
                throw new AssertionError("not an endpoint");
            }
            host.requests().acquireBeyond();
            inFlight.add(host);
            shares.merge(chosen.index(), 1.0 / REQUESTS, Double::sum);
        }
        inFlight.forEach(host -> host.requests().release());
        return shares;
    }

    private static double sum(Map<Integer, Double> shares, int... positions) {
        double sum = 0;
        for (int position : positions) {
            sum += shares.getOrDefault(position, 0.0);
        }
        return sum;
    }

    @ParameterizedTest
    @EnumSource
    void allRequestsStayWhereTheZoneCanTakeThem(Kind kind) {
        Health health = health(policy(kind), "a", "a", "b", "c", "a", "b", "c");
        assertThat(health.localShare()).isEqualTo(1);
        assertThat(shares(health, 16).keySet()).containsExactlyInAnyOrder(0, 3);
        assertThat(health.hasOther(health.endpoints().get(0))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "ROUND_ROBIN, 1",
        "ROUND_ROBIN, 64",
        "LEAST_REQUEST, 1",
        "LEAST_REQUEST, 16",
        "LEAST_REQUEST, 64",
        "RANDOM, 1",
        "RANDOM, 64",
        "PEAK_EWMA, 1",
        "PEAK_EWMA, 64"
    })
    void whatTheZoneCannotTakeGoesToTheOthersEvenly(Kind kind, int concurrency) {
        Health health = health(policy(kind), "a", "a", "b", "b", "b", "c", "c", "c");
        assertThat(health.localShare()).isCloseTo(1.4 * 3 / 7, within(1e-9));
        Map<Integer, Double> shares = shares(health, concurrency);
        assertThat(sum(shares, 0)).isCloseTo(0.6, within(0.0001));
        for (int other = 1; other <= 6; other++) {
            assertThat(sum(shares, other)).isCloseTo(0.4 / 6, within(kind == Kind.PEAK_EWMA ? 0.03 : 0.005));
        }
    }

    @ParameterizedTest
    @EnumSource
    void whileHalfOfTheZoneIsUnhealthyItGetsLess(Kind kind) {
        Health health = health(policy(kind), "a", "a", "b", "c", "a", "b", "c");
        unhealthy(health, 3);
        assertThat(health.localShare()).isCloseTo(1.4 * 3 / 5, within(1e-9));
        assertThat(sum(shares(health, 16), 0)).isCloseTo(0.84, within(0.0001));
        health.onChecked(health.endpoints().get(3), null);
        assertThat(health.localShare()).isEqualTo(1);
    }

    @Test
    void withoutAnEndpointInServiceInTheZoneAllOthersAreTheSame() {
        Health health = health(RoundRobin::new, "a", "a", "b", "c");
        unhealthy(health, 0);
        assertThat(health.localShare()).isNull();
        assertThat(shares(health, 1)).containsOnlyKeys(1, 2);
        assertThat(sum(shares(health, 1), 1)).isCloseTo(0.5, within(0.001));
    }

    @Test
    void whereZonesMakeNoDifferenceAllAreTheSame() {
        for (Health health : List.of(
                health(RoundRobin::new, null, "a", "b", "b"),
                health(RoundRobin::new, "c", "a", "b", "b"),
                health(RoundRobin::new, "a", "-", "-", "-"),
                health(RoundRobin::new, "a", "a", "a", "a"))) {
            assertThat(health.localShare()).isNull();
            assertThat(shares(health, 1).values())
                    .allSatisfy(share -> assertThat(share).isCloseTo(1.0 / 3, within(0.001)));
        }
    }

    @Test
    void endpointsWithoutAZoneAreFarAndNoZoneOfTheirOwn() {
        Health health = health(RoundRobin::new, "a", "a", "-", "-", "-", "b", "b");
        assertThat(health.localShare()).isCloseTo(1.4 * 2 / 6, within(1e-9));
        assertThat(sum(shares(health, 1), 0)).isCloseTo(1.4 * 2 / 6, within(0.0001));
    }

    /** Each zone has a gateway that gets the same number of requests. */
    @Test
    void whatAZoneKeepsIsAtMostOnePointFourTimesTheAverage() {
        String[] zones = {"a", "b", "b", "b", "c", "c", "d", "d", "d", "d"};
        List<String> places = List.of("a", "b", "c", "d");
        for (String place : places) {
            Map<Integer, Double> shares = shares(health(RoundRobin::new, place, zones), 1);
            for (int i = 0; i < zones.length; i++) {
                if (zones[i].equals(place)) {
                    assertThat(sum(shares, i) / places.size() * zones.length).isLessThan(1.45);
                }
            }
        }
    }

    @Test
    void aFurtherAttemptGoesToTheOtherZonesWhenAllOfOneAreTried() {
        Health health = health(RoundRobin::new, "a", "a", "a", "b", "c");
        assertThat(health.localShare()).isEqualTo(1);
        List<Endpoint> tried = new ArrayList<>();
        List<String> zones = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Endpoint next = health.balancer().choose(BalancedRequest.to("/", tried));
            if (next == null) {
                throw new AssertionError("nothing was chosen");
            }
            assertThat(tried).doesNotContain(next);
            tried.add(next);
            zones.add(String.valueOf(next.zone()));
        }
        assertThat(zones.subList(0, 2)).containsOnly("a");
        assertThat(zones.subList(2, 4)).containsExactlyInAnyOrder("b", "c");
        assertThat(health.balancer().choose(BalancedRequest.to("/", tried)))
                .as("the last one is the worst choice")
                .isNotEqualTo(tried.get(3));
    }

    @Test
    void furtherAttemptsDoNotOverloadTheZone() {
        Health health = health(RoundRobin::new, "a", "a", "a", "b", "b", "b", "b", "b", "b");
        double share = Objects.requireNonNull(health.localShare());
        int near = 0;
        for (int i = 0; i < REQUESTS; i++) {
            Endpoint next = health.balancer().choose(BalancedRequest.to("/", List.of(endpoint(health, 2))));
            near += next != null && "a".equals(next.zone()) ? 1 : 0;
        }
        assertThat((double) near / REQUESTS).isCloseTo(share, within(0.001));
    }

    private static Endpoint endpoint(Health health, int position) {
        return health.endpoints().get(position);
    }

    @Test
    void nobodyIsPreferredWhileNobodyIsInService() {
        Health health = health(RoundRobin::new, "a", "a", "b", "c");
        unhealthy(health, 0, 1, 2);
        assertThat(health.localShare()).isNull();
        assertThat(sum(shares(health, 1), 0)).isCloseTo(1.0 / 3, within(0.001));
    }

    @Test
    void answersAreTimedIfTheBalancersWithinZonesAskForIt() {
        assertThat(health(policy(Kind.PEAK_EWMA), "a", "a", "b").balancer().timesAnswers())
                .isTrue();
        assertThat(health(policy(Kind.RANDOM), "a", "a", "b").balancer().timesAnswers())
                .isFalse();
    }

    @Test
    void weightsCountAsWhatEndpointsCanTake() {
        Health health = health(RoundRobin::new, "a", "a", "b");
        List<EndpointSpec> specs = new ArrayList<>(specs("a", "b"));
        specs.set(1, new EndpointSpec("10.0.0.1", 80, 9, "10.0.0.1", "b", EndpointSpec.STATIC));
        health.update(specs, true);
        assertThat(health.localShare()).isCloseTo(1.4 * 2 / 10, within(1e-9));
        assertThat(sum(shares(health, 1), 0)).isCloseTo(0.28, within(0.0001));
    }

    /** The same endpoints are chosen before and after. */
    @Test
    void aPanicThatChoosesTheSameEndpointsSwitchesZonesOffAndItsEndSwitchesThemOn() {
        Health health = health(policy(Kind.ROUND_ROBIN), "a", 60, "a", "b");
        assertThat(shares(health, 1)).containsOnlyKeys(0);
        unhealthy(health, 0);
        assertThat(health.isPanic()).isTrue();
        assertThat(shares(health, 1)).containsOnlyKeys(0, 1);
        health.onChecked(health.endpoints().get(0), null);
        assertThat(health.isPanic()).isFalse();
        assertThat(shares(health, 1)).containsOnlyKeys(0);
    }

    @Test
    void inPanicModeZonesDoNotCount() {
        Health health = health(RoundRobin::new, "a", 60, "a", "b", "c");
        unhealthy(health, 1, 2);
        assertThat(health.isPanic()).isTrue();
        assertThat(health.localShare()).isNull();
        assertThat(shares(health, 1)).containsOnlyKeys(0, 1, 2);
    }

    @Test
    void anEndpointThatMovesToAnotherZoneIsPreferredThere() {
        Health health = health(RoundRobin::new, "a", "a", "b");
        health.update(specs("b", "a"), true);
        assertThat(health.localShare()).isEqualTo(1);
        assertThat(shares(health, 1)).hasSize(1);
        assertThat(health.balancer().choose(BalancedRequest.after()))
                .extracting(Endpoint::host)
                .isEqualTo("10.0.0.1");
    }

    @Test
    void limitsAreDividedByWhatEndpointsCanTakeWhereverRequestsComeFrom() {
        Health health = health(RoundRobin::new, "a", "a", "b", "b", "c");
        Upstream upstream = new Upstream(
                "app",
                health,
                UpstreamValues.builder()
                        .maxConnections(40)
                        .maxPendingRequests(40)
                        .maxRequests(40)
                        .build());
        for (Host host : upstream.hosts()) {
            int taken = 0;
            while (taken < 10 && host.requests().tryAcquire()) {
                taken++;
            }
            assertThat(taken).as("%s", host).isEqualTo(10);
        }
    }
}
