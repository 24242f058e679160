package dev.gateway.upstream.balancer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Why LeastRequest is the default: response times with one slow endpoint of several, simulated in virtual time. Requests
 * arrive at random. Each endpoint serves so many at a time, the rest wait there. {@code -Dsimulation=print} prints the times.
 */
class SlowEndpointTest {
    private static final int REQUESTS = 200_000;
    private static final int WORKERS = 8;
    private static final double SERVICE_MILLIS = 10;

    private final SplittableRandom random = new SplittableRandom(27);

    /** One endpoint, and what waits there. */
    private static final class Server {
        final Host host;
        final double serviceMillis;
        final Queue<Double> waiting = new ArrayDeque<>(); // when each arrived
        int busy;

        Server(int index, double serviceMillis) {
            this.host = new Host(new Endpoint(index, "10.0.0." + index, 80, 1));
            this.serviceMillis = serviceMillis;
        }
    }

    /** A request that is served until some time. */
    private record Served(Server by, double arrived, double until) {}

    /** Response times in milliseconds. */
    private static final class Times {
        private final double[] sorted;

        Times(double[] millis) {
            sorted = millis.clone();
            Arrays.sort(sorted);
        }

        double at(double percentile) {
            return sorted[(int) (sorted.length * percentile / 100)];
        }
    }

    private double exponential(double mean) {
        return -mean * Math.log(1 - random.nextDouble());
    }

    /**
     * Lets requests arrive until all are served.
     *
     * @param slowFactor how many times slower the first endpoint is
     * @param load the part of what all endpoints could serve if none were slow
     */
    private Times simulate(Balancer.Policy policy, int endpoints, double slowFactor, double load) {
        List<Server> servers = new ArrayList<>();
        for (int i = 0; i < endpoints; i++) {
            servers.add(new Server(i, i == 0 ? SERVICE_MILLIS * slowFactor : SERVICE_MILLIS));
        }
        Balancer balancer =
                policy.over(servers.stream().map(server -> server.host).toList());
        double between = SERVICE_MILLIS / (WORKERS * endpoints * load);
        PriorityQueue<Served> inService = new PriorityQueue<>(Comparator.comparingDouble(Served::until));
        double[] millis = new double[REQUESTS];
        int ended = 0;
        double now = 0;
        for (int i = 0; i < REQUESTS; i++) {
            now += exponential(between);
            while (!inService.isEmpty() && inService.element().until <= now) {
                millis[ended++] = end(inService);
            }
            Endpoint chosen = balancer.choose(BalancedRequest.after());
            if (chosen == null) {
                throw new AssertionError("nothing was chosen");
            }
            Server server = servers.get(chosen.index());
            server.host.requests().acquireBeyond();
            if (server.busy < WORKERS) {
                server.busy++;
                inService.add(new Served(server, now, now + exponential(server.serviceMillis)));
            } else {
                server.waiting.add(now);
            }
        }
        while (!inService.isEmpty()) {
            millis[ended++] = end(inService);
        }
        return new Times(millis);
    }

    /** Ends the request that is ready first, and serves another one that waited there; returns how long it took. */
    private double end(PriorityQueue<Served> inService) {
        Served done = inService.remove();
        Server server = done.by;
        server.host.requests().release();
        Double next = server.waiting.poll();
        if (next == null) {
            server.busy--;
        } else {
            inService.add(new Served(server, next, done.until + exponential(server.serviceMillis)));
        }
        return done.until - done.arrived;
    }

    private Times leastRequest(int endpoints, double slowFactor, double load) {
        return tell("LeastRequest", endpoints, slowFactor, load, hosts -> new LeastRequest(hosts, random::nextLong));
    }

    private Times roundRobin(int endpoints, double slowFactor, double load) {
        return tell("RoundRobin", endpoints, slowFactor, load, RoundRobin::new);
    }

    private Times tell(String name, int endpoints, double slowFactor, double load, Balancer.Policy policy) {
        Times times = simulate(policy, endpoints, slowFactor, load);
        if ("print".equals(System.getProperty("simulation"))) {
            System.out.printf(
                    Locale.ROOT,
                    "%-12s  %2d endpoints, one %2.0f times slower, load %.2f:  p50 %6.1f ms, p99 %9.1f ms%n",
                    name,
                    endpoints,
                    slowFactor,
                    load,
                    times.at(50),
                    times.at(99));
        }
        return times;
    }

    @ParameterizedTest
    @CsvSource({"3, 2, 0.5", "3, 10, 0.5", "5, 2, 0.5", "5, 10, 0.5", "5, 100, 0.5", "20, 10, 0.5"})
    void aSlowEndpointCostsFewRequestsTheirTimeWithLeastRequest(int endpoints, double slowFactor, double load) {
        double least = leastRequest(endpoints, slowFactor, load).at(99);
        double inTurn = roundRobin(endpoints, slowFactor, load).at(99);
        assertThat(least).isLessThan(inTurn);
    }

    @Test
    void aVerySlowEndpointMakesRoundRobinFailAndLeastRequestSlow() {
        assertThat(roundRobin(5, 10, 0.5).at(99)).as("a queue that only grows").isGreaterThan(10_000);
        assertThat(leastRequest(5, 10, 0.5).at(99)).isLessThan(500);
    }

    @ParameterizedTest
    @CsvSource({"3, 0.5", "3, 0.9", "5, 0.5", "5, 0.9", "20, 0.9"})
    void whereAllEndpointsAreTheSameLeastRequestIsNoWorse(int endpoints, double load) {
        double least = leastRequest(endpoints, 1, load).at(99);
        double inTurn = roundRobin(endpoints, 1, load).at(99);
        assertThat(least).isLessThan(inTurn * 1.05);
    }
}
