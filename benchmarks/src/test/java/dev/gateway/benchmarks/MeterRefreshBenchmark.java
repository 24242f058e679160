package dev.gateway.benchmarks;

import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.observe.meters.GatewayMeters;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What the housekeeping thread spends on the meters of an application's registry, each time that it refreshes them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class MeterRefreshBenchmark {
    private static final int UPSTREAMS = 10;
    private static final int LOOPS = 4;

    @Param("50")
    int routes;

    @Param({"false", "true"})
    boolean buckets;

    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final Metrics metrics = new Metrics("benchmark");
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private GatewayMeters meters = meters();

    private GatewayMeters meters() {
        ConfiguredNames names =
                new ConfiguredNames(Set.of("web"), names("route-", routes), names("upstream-", UPSTREAMS));
        return new GatewayMeters(metrics.collector(), () -> names, buckets);
    }

    private static Set<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).collect(Collectors.toSet());
    }

    @Setup
    public void count() {
        ConnectionInfo client = new ConnectionInfo(
                0, "web", HttpVersion.HTTP_1_1, new InetSocketAddress("192.0.2.7", 5555), null, null);
        for (int loop = 0; loop < LOOPS; loop++) {
            LoopMetrics counters = metrics.newLoop(new TimerWheel(executor), () -> 0);
            for (int i = 0; i < routes; i++) {
                ExchangeRecord record = new ExchangeRecord(client);
                record.method = Method.GET;
                record.route = "route-" + i;
                record.upstream = "upstream-" + i % UPSTREAMS;
                record.endpoint = new Endpoint(0, "10.0.0." + i % UPSTREAMS, 8080, 1);
                record.endpointIndex = 0;
                record.attempts = 1;
                record.status = 200;
                record.respondedNanos = 300_000;
                record.endNanos = 400_000;
                counters.onBegun(record);
                counters.onAttemptBegun(record);
                counters.onAttemptEnded(record, 200, null, false);
                counters.onCompleted(record);
            }
        }
        meters = meters();
        meters.bindTo(registry);
        System.out.println(registry.getMeters().size() + " meters");
    }

    @TearDown
    public void end() {
        meters.close();
        metrics.close();
        executor.shutdown();
    }

    /** Binding again does nothing but refresh. */
    @Benchmark
    public void refresh() {
        meters.bindTo(registry);
    }
}
