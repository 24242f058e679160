package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.RedisServer;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Under load, two gateways with one Redis hold a limit, and Redis that fails costs no more than {@code onError} says. */
@Tag("alone")
@Timeout(180)
class SharedRateIT {
    private static final boolean LONG = "long".equals(System.getProperty("limits"));
    private static final int PER_SECOND = LONG ? 1_000 : 200; // and as many at once
    private static final int SECONDS = LONG ? 60 : 10;
    private static final int SECONDS_WITHOUT_REDIS = LONG ? 60 : 5;

    /** Clients of some gateways that ask on and on, half of them by HTTP/2. */
    private static final class Load implements AutoCloseable {
        private final LongAdder allowed = new LongAdder();
        private final LongAdder refused = new LongAdder();
        private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final List<Thread> clients = new ArrayList<>();
        private volatile boolean stopping;

        Load(Rig... rigs) {
            for (Rig rig : rigs) {
                for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C, Peers.HTTP1, Peers.H2C)) {
                    Thread thread = new Thread(() -> run(rig, protocol), "load " + protocol);
                    clients.add(thread);
                    thread.start();
                }
            }
        }

        private void run(Rig rig, Peers protocol) {
            try (Peer client = rig.connect(protocol)) {
                while (!stopping) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("GET", "/"), true);
                    int status = stream.receiveFinal().status();
                    stream.receiveBody();
                    if (status != 200 && status != 429) {
                        throw new IOException("status " + status);
                    }
                    (status == 200 ? allowed : refused).increment();
                }
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e);
            }
        }

        void goOnFor(long seconds) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            while (System.nanoTime() < end) {
                assertThat(failures).isEmpty();
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }

        /** Ends it; fails if any request has. */
        void stop() throws InterruptedException {
            stopping = true;
            for (Thread client : clients) {
                client.join();
            }
            assertThat(failures).isEmpty();
        }

        @Override
        public void close() {
            stopping = true;
        }
    }

    /** The gateway answers by itself, so that all of the machine is for the limit. */
    private static Rig rig(RedisServer redis, String timeout) throws IOException {
        return Rig.start(
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {exchanges: none}
                stores: [{name: shared, redis: "redis://127.0.0.1:PORT", timeout: TIMEOUT}]
                routes:
                  - name: all
                    rules:
                      - name: all
                        filters:
                          - {type: DirectResponse, directResponse: {body: hello}}
                          - {type: RateLimit, rateLimit: {limits: [{requests: LIMIT, interval: 1s, store: shared}]}}
                """
                        .replace("PORT", "" + redis.port())
                        .replace("TIMEOUT", timeout)
                        .replace("LIMIT", "" + PER_SECOND));
    }

    private static double answers(Rig rig) throws IOException, InterruptedException {
        return rig.metric("gateway_ratelimit_store_duration_seconds_count", "store=\"shared\"");
    }

    private static double undecided(Rig rig) throws IOException, InterruptedException {
        return rig.metric("gateway_ratelimit_store_decisions_total", "store=\"shared\"", "result=\"undecided\"");
    }

    private static void awaitUp(Rig... rigs) throws IOException, InterruptedException {
        for (Rig rig : rigs) {
            rig.awaitMetric(1, "gateway_ratelimit_store_up", "store=\"shared\"");
        }
    }

    @Test
    void twoGatewaysHoldALimitWithinTwoPercent() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Rig one = rig(redis, "10s");
                Rig other = rig(redis, "10s")) {
            awaitUp(one, other);
            try (Load warmUp = new Load(one, other)) {
                warmUp.goOnFor(2);
                warmUp.stop();
            }
            double answersBefore = answers(one) + answers(other);
            redis.command("FLUSHALL"); // so that it begins with a full bucket
            Load load = new Load(one, other);
            long begin = System.nanoTime();
            try (load) {
                load.goOnFor(SECONDS);
                load.stop();
            }
            double took = (System.nanoTime() - begin) / 1e9;
            double expected = PER_SECOND * (took + 1);
            System.err.printf(
                    "%.1f s: %d allowed, %.0f expected, %d refused, %.0f questions%n",
                    took,
                    load.allowed.sum(),
                    expected,
                    load.refused.sum(),
                    answers(one) + answers(other) - answersBefore);
            assertThat(load.refused.sum())
                    .as("more than the limit were asked for")
                    .isPositive();
            assertThat(undecided(one) + undecided(other)).isZero();
            assertThat((double) load.allowed.sum()).isBetween(expected * 0.98, expected * 1.02);
        }
    }

    @Test
    void gatewaysWhoseRedisIsKilledEachHoldTheLimitByThemselvesAlsoWhenItComesBackEmpty() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Rig one = rig(redis, "50ms");
                Rig other = rig(redis, "50ms")) {
            awaitUp(one, other);
            try (Load load = new Load(one, other)) {
                load.goOnFor(1);
                long before = load.allowed.sum();
                long begin = System.nanoTime();
                redis.kill();
                load.goOnFor(SECONDS_WITHOUT_REDIS);
                double away = (System.nanoTime() - begin) / 1e9;
                long allowed = load.allowed.sum() - before;
                assertThat((double) allowed)
                        .as("without Redis and without a burst, in %.1f s", away) // docs/filters.md
                        .isBetween(PER_SECOND * away * 0.98, 2 * PER_SECOND * away * 1.03);
                redis.restart();
                awaitUp(one, other);
                load.goOnFor(2);
                load.stop();
                double took = (System.nanoTime() - begin) / 1e9;
                allowed = load.allowed.sum() - before;
                System.err.printf("%.1f s after Redis was killed: %d allowed by two gateways%n", took, allowed);
                assertThat((double) allowed).isLessThan(2 * PER_SECOND * took * 1.03);
            }
        }
    }

    @Test
    void redisMayFailInAnyWayUnderLoad() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Rig one = rig(redis, "50ms");
                Rig other = rig(redis, "50ms")) {
            awaitUp(one, other);
            try (Load load = new Load(one, other)) {
                load.goOnFor(1);
                redis.kill();
                load.goOnFor(1);
                redis.restart();
                awaitUp(one, other);
                redis.pause();
                load.goOnFor(2);
                redis.resume();
                awaitUp(one, other);
                redis.command("SCRIPT", "FLUSH");
                load.goOnFor(1);
                redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                load.goOnFor(1);
                awaitUp(one, other);
                redis.command("DEBUG", "SLEEP", "0.3");
                load.goOnFor(1);
                awaitUp(one, other);
                double before = answers(one) + answers(other);
                load.goOnFor(1);
                assertThat(answers(one) + answers(other)).isGreaterThan(before);
                load.stop();
            }
        }
    }
}
