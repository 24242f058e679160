package dev.gateway.benchmarks;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.filter.Filter;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.headers.RequestHeaderModifier;
import dev.gateway.filter.headers.ResponseHeaderModifier;
import dev.gateway.filter.urlrewrite.UrlRewrite;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.util.List;
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
 * What an exchange costs between its two protocols: a request and its response of one chunk, through a route's filters,
 * with both sides doing nothing. The difference that {@code filters} makes is the filter chain.
 */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // the set-up sets it
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ExchangeBenchmark {
    private static final AsciiString HTTP = new AsciiString("http");
    private static final AsciiString AUTHORITY = new AsciiString("shop.example.test");
    private static final AsciiString PATH = new AsciiString("/api/v1/orders?page=2");
    private static final AsciiString AGENT = new AsciiString("Mozilla/5.0");

    @Param({"0", "3"})
    int filters;

    private BareExchange exchange;

    @Setup
    public void route() {
        List<Filter> all = List.of(
                new RequestHeaderModifier(new FieldEdits(
                        List.of(FieldEdits.Field.of("X-Environment", "bench")),
                        List.of(),
                        List.of(FieldName.of("X-Debug")))),
                new UrlRewrite("api.internal.test", null),
                new ResponseHeaderModifier(new FieldEdits(
                        List.of(FieldEdits.Field.of("Strict-Transport-Security", "max-age=31536000")),
                        List.of(),
                        List.of(FieldName.of("X-Powered-By")))));
        List<Endpoint> endpoints = List.of(new Endpoint(0, "127.0.0.1", 9000, 1));
        UpstreamSettings settings = UpstreamValues.builder()
                .protocol(Protocol.HTTP1)
                .maxConnections(1024)
                .maxPendingRequests(1024)
                .maxRequests(65536)
                .responseHeadersMillis(60_000)
                .build();
        Upstream upstream = new Upstream("app", endpoints, RoundRobin::new, settings);
        Route route = new Route(
                "app",
                all.subList(0, filters),
                Route.Forwarding.to(client -> upstream),
                Route.Timeouts.NONE,
                Route.Upgrades.NONE);
        Router.Match match = new Router.Match(route, 0);
        exchange = new BareExchange(new OneRouter(head -> match));
    }

    @Benchmark
    public int exchange() {
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, AGENT);
        return exchange.serve(new RequestHead(Method.GET, HTTP, AUTHORITY, PATH, fields, 0));
    }

    @TearDown
    public void end() {
        exchange.close();
    }
}
