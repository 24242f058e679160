package dev.gateway.benchmarks;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.ratelimit.ConcurrencyLimit;
import dev.gateway.filter.ratelimit.Limit;
import dev.gateway.filter.ratelimit.LimitKey;
import dev.gateway.filter.ratelimit.LimitPolicy;
import dev.gateway.filter.ratelimit.LimitTables;
import dev.gateway.filter.ratelimit.RateLimit;
import dev.gateway.filter.ratelimit.RateLimitConfig.Rate;
import dev.gateway.filter.ratelimit.RateLimitConfig.Unit;
import dev.gateway.filter.ratelimit.RequestLimit;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to decide whether a request keeps to a limit. With {@code -t 2}, threads share the tables. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RateLimitBenchmark {
    private static final int USERS = 1 << 10;

    private final LimitTables tables = new LimitTables();
    private final RateLimit all = filter(requests(1_000_000), List.of());
    private final RateLimit header = filter(requests(1_000_000), byUser());
    private final RateLimit refusing = filter(requests(1), byUser());
    private final RateLimit client = filter(requests(1_000_000), List.of(LimitKey.client()));
    private final RateLimit inFlight = filter(new ConcurrencyLimit(tables, 1_000), byUser());

    private static List<LimitKey.Part> byUser() {
        return List.of(LimitKey.header(FieldName.of("X-User")));
    }

    private Limit requests(long perSecond) {
        return new RequestLimit(tables, new Rate(Unit.REQUESTS, perSecond, Duration.ofSeconds(1), perSecond));
    }

    private RateLimit filter(Limit limit, List<LimitKey.Part> key) {
        LimitPolicy policy = new LimitPolicy("limit", 1, 1, null);
        return new RateLimit(tables, List.of(new RateLimit.Limited(limit, new LimitKey(key), policy, "")), false);
    }

    /** Requests of many users, one after another. */
    @State(Scope.Thread)
    public static class Requests {
        private final RequestHead[] heads = new RequestHead[USERS];
        private final FakeContext context = FakeContext.from("203.0.113.9");
        private int next;

        /** Makes the heads. */
        public Requests() {
            context.nanos = System.nanoTime();
            for (int i = 0; i < USERS; i++) {
                heads[i] = Heads.get(
                        "shop.example.com", "/catalogue/lamps", "Accept: */*", "X-User: user-" + i * 7919L % 99_991);
            }
        }

        RequestHead head() {
            context.nanos += 10_000; // fast enough for the limits, whatever the machine is like
            return heads[next++ & (USERS - 1)];
        }
    }

    /** One bucket for all. */
    @Benchmark
    public Verdict ofAll(Requests requests) {
        return all.onRequest(requests.head(), requests.context);
    }

    /** A bucket for each value of a header. */
    @Benchmark
    public Verdict byHeader(Requests requests) {
        return header.onRequest(requests.head(), requests.context);
    }

    /** A bucket for each client, of which there is one. */
    @Benchmark
    public Verdict byClient(Requests requests) {
        return client.onRequest(requests.head(), requests.context);
    }

    /** The same, but most are refused, which makes the fields of the answer. */
    @Benchmark
    public Verdict refusedByHeader(Requests requests) {
        return refusing.onRequest(requests.head(), requests.context);
    }

    /** A count of requests in flight for each value of a header; each ends at once. */
    @Benchmark
    public Verdict inFlightByHeader(Requests requests) {
        RequestHead head = requests.head();
        Verdict verdict = inFlight.onRequest(head, requests.context);
        inFlight.onEnd(requests.context);
        return verdict;
    }
}
