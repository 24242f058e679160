package dev.gateway.benchmarks;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.RouterBuilder;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What it costs to find a request's route in small and large tables. A tenth of the routes has a host name of its own;
 * the others share one, by exact paths and prefixes. Requests go round, so that caches see the whole table.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RouteBenchmark {
    private static final int REQUESTS = 1024;

    @Param({"10", "1000", "10000"})
    int routes = 10;

    private Router router = new RouterBuilder().build();
    private RequestHead[] prefix = {};
    private RequestHead[] exact = {};
    private RequestHead[] wildcard = {};
    private int next;

    @Setup
    public void build() {
        RouterBuilder builder = new RouterBuilder();
        for (int i = 0; i < routes; i++) {
            String name = "r" + i;
            Route route = new Route(name, List.of(), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE);
            switch (i % 10) {
                case 0 -> builder.add(List.of("*.h" + i + ".example.com"), List.of(), route);
                case 1, 2, 3, 4 ->
                    builder.add(
                            List.of("shop.example.com"),
                            List.of(MatchConfig.path(PathType.EXACT, "/exact/" + i + "/item")),
                            route);
                default ->
                    builder.add(
                            List.of("shop.example.com"),
                            List.of(MatchConfig.path(PathType.PATH_PREFIX, "/api/v1/" + i)),
                            route);
            }
        }
        router = builder.build();
        prefix = new RequestHead[REQUESTS];
        exact = new RequestHead[REQUESTS];
        wildcard = new RequestHead[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) {
            int ten = (int) (i * 7919L % (routes / 10)) * 10;
            prefix[i] = head("shop.example.com:8080", "/api/v1/" + (ten + 5 + i % 5) + "/orders/4711?page=2");
            exact[i] = head("shop.example.com", "/exact/" + (ten + 1 + i % 4) + "/item?page=2");
            wildcard[i] = head("www.h" + ten + ".example.com", "/some/path");
        }
        for (RequestHead[] heads : List.of(prefix, exact, wildcard)) {
            for (RequestHead head : heads) {
                if (router.match(head) == null) {
                    throw new IllegalStateException("no route for " + head.authority() + head.path());
                }
            }
        }
    }

    private static RequestHead head(String authority, String path) {
        Fields fields = new Fields();
        fields.add(FieldName.ACCEPT, "*/*");
        return new RequestHead(
                Method.GET, new AsciiString("http"), new AsciiString(authority), new AsciiString(path), fields, 0);
    }

    private @Nullable Object match(RequestHead[] heads) {
        next = (next + 1) & (REQUESTS - 1);
        return router.match(heads[next]);
    }

    @Benchmark
    public @Nullable Object byPrefix() {
        return match(prefix);
    }

    @Benchmark
    public @Nullable Object byExactPath() {
        return match(exact);
    }

    @Benchmark
    public @Nullable Object byWildcardHost() {
        return match(wildcard);
    }
}
