package dev.gateway.upstream.balancer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.balancer.hash.ConsistentHash;
import dev.gateway.upstream.balancer.hash.HashKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What holds for each policy, over many requests at random. */
class BalancersTest {
    private static final int REQUESTS = 100_000;
    private static final List<HashKey> BY_PATH = List.of(new HashKey(HashKey.Source.PATH, "", false));

    private final SplittableRandom random = new SplittableRandom(27);
    private long nanos;

    enum Kind {
        ROUND_ROBIN,
        LEAST_REQUEST,
        RANDOM,
        HASH,
        PEAK_EWMA
    }

    private Balancer balancer(Kind kind, List<Host> hosts) {
        return switch (kind) {
            case ROUND_ROBIN -> new RoundRobin(hosts);
            case LEAST_REQUEST -> new LeastRequest(hosts, random::nextLong);
            case RANDOM -> new WeightedRandom(hosts, random::nextLong);
            case HASH -> new ConsistentHash(hosts, BY_PATH, 150);
            case PEAK_EWMA -> new PeakEwma(hosts, random::nextLong, () -> nanos);
        };
    }

    private static List<Host> hosts(int... weights) {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            hosts.add(new Host(new Endpoint(i, "10.0." + (i >> 8) + "." + (i & 255), 80, weights[i])));
        }
        return hosts;
    }

    /** Returns the share of each of so many requests, of which so many are in flight at a time and end in a random order. */
    private double[] shares(Kind kind, List<Host> hosts, int concurrency) {
        Balancer balancer = balancer(kind, hosts);
        double[] shares = new double[hosts.size()];
        List<Host> inFlight = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            nanos += 1000;
            if (inFlight.size() == concurrency) {
                Host done = inFlight.remove(random.nextInt(concurrency));
                done.requests().release();
                done.latency().add(1_000_000 + random.nextInt(100_000), nanos);
            }
            Endpoint chosen = balancer.choose(BalancedRequest.to("/" + i));
            if (chosen == null) {
                throw new AssertionError("nothing was chosen");
            }
            Host host = hosts.get(chosen.index());
            host.requests().acquireBeyond();
            inFlight.add(host);
            shares[chosen.index()] += 1.0 / REQUESTS;
        }
        inFlight.forEach(host -> host.requests().release());
        return shares;
    }

    @ParameterizedTest
    @CsvSource({"ROUND_ROBIN, 0.0001", "LEAST_REQUEST, 0.01", "RANDOM, 0.01", "HASH, 0.01", "PEAK_EWMA, 0.05"})
    void endpointsOfTheSameWeightGetTheSame(Kind kind, double bound) {
        for (int concurrency : new int[] {1, 2, 16, 64}) {
            for (double share : shares(kind, hosts(1, 1, 1, 1, 1), concurrency)) {
                assertThat(share).as("%s with %s in flight", kind, concurrency).isBetween(0.2 - bound, 0.2 + bound);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"ROUND_ROBIN, 0.0001", "LEAST_REQUEST, 0.03", "RANDOM, 0.005", "HASH, 0.01", "PEAK_EWMA, 0.09"})
    void aTenthOfTheWeightGetsAboutATenth(Kind kind, double bound) {
        for (int concurrency : new int[] {1, 2, 4, 16, 64}) {
            double[] shares = shares(kind, hosts(90, 10), concurrency);
            assertThat(shares[1]).as("%s with %s in flight", kind, concurrency).isBetween(0.1 - bound, 0.1 + bound);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void noEndpointIsChosenAgainWhileAnotherIsUntried(Kind kind) {
        List<Host> hosts = hosts(50, 1, 1, 1, 1, 1, 1, 1);
        Balancer balancer = balancer(kind, hosts);
        for (int i = 0; i < 1000; i++) {
            List<Endpoint> tried = new ArrayList<>();
            for (int attempt = 0; attempt < hosts.size(); attempt++) {
                Endpoint chosen = balancer.choose(BalancedRequest.to("/" + i, tried));
                assertThat(tried).doesNotContain(chosen);
                tried.add(chosen);
            }
            assertThat(balancer.choose(BalancedRequest.to("/" + i, tried)))
                    .as("the last one is the worst choice")
                    .isNotEqualTo(tried.get(tried.size() - 1));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void oneEndpointServesAloneAndNoneServesNobody(Kind kind) {
        List<Host> one = hosts(7);
        Balancer balancer = balancer(kind, one);
        Endpoint only = one.get(0).endpoint();
        assertThat(balancer.choose(BalancedRequest.to("/"))).isEqualTo(only);
        assertThat(balancer.choose(BalancedRequest.to("/", List.of(only)))).isEqualTo(only);
        assertThat(balancer(kind, List.of()).choose(BalancedRequest.to("/"))).isNull();
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"LEAST_REQUEST", "PEAK_EWMA"})
    void anEndpointThatHangsGetsNoMoreRequestsThanOthersHaveInFlight(Kind kind) {
        List<Host> hosts = hosts(1, 1, 1);
        Balancer balancer = balancer(kind, hosts);
        hosts.forEach(host -> host.latency().add(1_000_000, nanos));
        int toHanging = 0;
        for (int i = 0; i < 10_000; i++) {
            Endpoint chosen = balancer.choose(BalancedRequest.to("/" + i));
            if (chosen != null && chosen.index() == 0) {
                hosts.get(0).requests().acquireBeyond(); // and never gives it back
                toHanging++;
            }
        }
        assertThat(toHanging).as("%s", kind).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(value = Kind.class)
    void ofAThousandEndpointsEachGetsItsShare(Kind kind) {
        int[] weights = new int[1000];
        Arrays.fill(weights, 1);
        double[] shares = shares(kind, hosts(weights), 100);
        for (double share : shares) {
            assertThat(share).as("%s", kind).isBetween(0.0003, 0.002);
        }
    }
}
