package dev.gateway.upstream.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random schedules of requests, connections, time and changes of endpoints, against a model: no permit is lost, nothing is
 * counted twice or never, no limit is exceeded, and nobody who waits is forgotten. {@code -Dmodel.seeds=100000} runs more of
 * them, and {@code -Dmodel.seed=7} one.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS) // for those who ask for many
class PoolModelTest {
    private static final long SEEDS = Long.getLong("model.seeds", 300);
    private static final long ONLY = Long.getLong("model.seed", 0);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static Transport transport; // makes no connection

    @SuppressWarnings("NullAway.Init")
    private static Resolver resolver; // of addresses

    @BeforeAll
    static void start() {
        transport = Transport.start(TransportKind.NIO, 1);
        resolver = new Resolver(transport, List.of(), Duration.ofMinutes(1));
    }

    @AfterAll
    static void stop() throws InterruptedException {
        resolver.close();
        transport.stop().sync();
    }

    @Test
    void whateverHappensNothingIsLostAndNobodyIsForgotten() {
        if (ONLY != 0) {
            run(ONLY);
            return;
        }
        for (long seed = 1; seed <= SEEDS; seed++) {
            run(seed);
        }
    }

    /** In these, a request kept waiting beside a free stream, a place among those who wait was lost, or the model was wrong. */
    @Test
    void schedulesThatFoundFaultsPass() {
        LongStream.of(12_975, 13_009, 19_189, 20_744, 21_135, 36_194).forEach(PoolModelTest::run);
    }

    private static void run(long seed) {
        PoolModel model = new PoolModel(seed, resolver);
        try {
            model.run();
        } catch (Throwable e) {
            throw new AssertionError(
                    "seed " + seed + ", to be repeated by -Dmodel.seed=" + seed + ": " + e.getMessage() + "\n"
                            + model.history(),
                    e);
        }
    }
}
