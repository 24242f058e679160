package dev.gateway.tests.jmh;

import dev.gateway.exchange.ExchangeHandler;
import dev.gateway.filter.Filter;
import dev.gateway.filter.rewrite.FieldEdits;
import dev.gateway.filter.rewrite.RequestHeaderModifier;
import dev.gateway.filter.rewrite.ResponseHeaderModifier;
import dev.gateway.filter.rewrite.UrlRewrite;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.route.Route;
import dev.gateway.route.Router;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.ServerStream;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.RoundRobin;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What an exchange costs between its two protocols: a request and its response of one chunk, through a route's filters,
 * with both sides doing nothing. The difference that {@code filters} makes is the filter chain.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ExchangeBenchmark {
    private static final int CHUNK = 100;
    private static final AsciiString HTTP = new AsciiString("http");
    private static final AsciiString AUTHORITY = new AsciiString("shop.example.test");
    private static final AsciiString PATH = new AsciiString("/api/v1/orders?page=2");
    private static final AsciiString AGENT = new AsciiString("Mozilla/5.0");
    private static final AsciiString TYPE = new AsciiString("text/plain");

    @Param({"0", "3"})
    int filters;

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Side side = new Side();
    private final ByteBuf chunk =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(CHUNK).writeZero(CHUNK));
    private final ExchangeHandler handler = new ExchangeHandler(
            (upstream, endpoint, demand, client, events, callback) -> {
                side.events = events;
                callback.onOpened(side, Side.HOP);
                return StreamOpener.Opening.DONE;
            },
            new TimerWheel(loop.eventLoop()),
            ExchangeObserver.NONE);

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
        UpstreamSettings settings = UpstreamSettings.builder()
                .protocol(UpstreamSettings.Protocol.HTTP1)
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
        handler.use(new OneRouter(head -> match), () -> {});
    }

    @Benchmark
    public int exchange() {
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, AGENT);
        RequestHead request = new RequestHead(Method.GET, HTTP, AUTHORITY, PATH, fields, 0);
        handler.onRequest(side, request, true);
        ResponseEvents events = side.events;
        if (events == null) {
            throw new IllegalStateException("no stream was opened");
        }
        Fields answered = new Fields();
        answered.add(FieldName.CONTENT_TYPE, TYPE);
        events.onHead(new ResponseHead(200, null, answered, CHUNK), false);
        events.onData(chunk, true);
        events.onReadComplete();
        return handler.active();
    }

    @TearDown
    public void end() {
        if (handler.active() != 0) {
            throw new IllegalStateException("exchanges have not ended");
        }
        loop.finishAndReleaseAll();
    }

    /** Both sides of all exchanges; takes what it is given. */
    private static final class Side implements ServerStream, ClientStream {
        private static final DialedPeer HOP = new DialedPeer("127.0.0.1:9000", "");
        private static final ConnectionInfo CLIENT = new ConnectionInfo(
                0,
                "web",
                HttpVersion.HTTP_1_1,
                new InetSocketAddress("192.0.2.7", 5555),
                new InetSocketAddress("127.0.0.1", 8080),
                null);

        private @Nullable ResponseEvents events;

        @Override
        public void head(ResponseHead head, boolean last) {}

        @Override
        public void head(RequestHead head, boolean last) {}

        @Override
        public ConnectionInfo connection() {
            return CLIENT;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            data.release();
        }

        @Override
        public void trailers(Fields fields) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void reset(Failure failure) {}
    }
}
