package dev.gateway.benchmarks;

import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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

/**
 * What metrics cost: all that is counted of one request on a kept connection of each side ({@code request}), against the
 * same calls to observers that count nothing ({@code nothing}), and one scrape of it all ({@code scrape}). Requests go
 * round over all routes and upstreams.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class MetricsBenchmark {
    private static final int UPSTREAMS = 100;
    private static final int LOOPS = 2;
    private static final int BUCKETS_SEEN = 4;

    @Param({"1", "1000"})
    int routes = 1;

    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final Metrics metrics = new Metrics("benchmark");
    private ExchangeRecord[] records = {};
    private ExchangeObserver exchanges = ExchangeObserver.NONE;
    private ConnectionObserver listener = ConnectionObserver.NONE;
    private UpstreamObserver upstream = UpstreamObserver.NONE;
    private int next;

    @Setup
    public void count() {
        records = new ExchangeRecord[routes];
        ConnectionInfo client = new ConnectionInfo(
                0, "web", HttpVersion.HTTP_1_1, new InetSocketAddress("192.0.2.7", 5555), null, null);
        for (int i = 0; i < routes; i++) {
            ExchangeRecord record = new ExchangeRecord(client);
            record.method = Method.GET;
            record.route = "route-" + i;
            record.upstream = "upstream-" + i % UPSTREAMS;
            record.endpoint = new Endpoint(0, "10.0.0." + i % UPSTREAMS, 8080, 1);
            record.endpointIndex = 0;
            record.attempts = 1;
            record.status = 200;
            record.startNanos = 1_000;
            record.attemptNanos = 1_000;
            record.requestedNanos = 2_000;
            record.respondedNanos = 300_000;
            record.endNanos = 400_000;
            records[i] = record;
        }
        for (int loop = 0; loop < LOOPS; loop++) {
            LoopMetrics counters = metrics.newLoop(new TimerWheel(executor), () -> 0);
            exchanges = counters;
            listener = counters.listener("web");
            upstream = counters.upstream("upstream-0");
            for (int i = 0; i < routes * BUCKETS_SEEN; i++) {
                request();
            }
        }
    }

    @TearDown
    public void end() {
        metrics.close();
        executor.shutdown();
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public ExchangeRecord request() {
        return request(exchanges, listener, upstream);
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public ExchangeRecord nothing() {
        return request(ExchangeObserver.NONE, ConnectionObserver.NONE, UpstreamObserver.NONE);
    }

    private ExchangeRecord request(ExchangeObserver observer, ConnectionObserver near, UpstreamObserver far) {
        next = next + 1 == records.length ? 0 : next + 1;
        ExchangeRecord record = records[next];
        near.onReceived(120);
        observer.onBegun(record);
        observer.onAttemptBegun(record);
        far.onIdleEnded(HttpVersion.HTTP_1_1);
        far.onSent(150);
        far.onReceived(200);
        near.onSent(180);
        far.onIdle(HttpVersion.HTTP_1_1);
        observer.onAttemptEnded(record, 200, null, false);
        observer.onCompleted(record);
        return record;
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public int scrape() {
        return metrics.metricsText().length();
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public int statistics() {
        return metrics.statsJson().length();
    }
}
