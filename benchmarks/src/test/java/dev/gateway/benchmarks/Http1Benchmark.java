package dev.gateway.benchmarks;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.exchange.ExchangeHandler;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.RouterBuilder;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ClientConnection;
import dev.gateway.protocol.http1.Http1ClientSettings;
import dev.gateway.protocol.http1.Http1ServerConnection;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the gateway's own code spends on an HTTP/1.1 request, everything but sockets, TLS and the pool: from the client's
 * bytes to those for the upstream, and from its response to what the client gets, on 64 kept connections of each side.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Http1Benchmark {
    private static final int CONNECTIONS = 64;
    private static final DialedPeer HOP = new DialedPeer("192.0.2.8:80", "");
    private static final byte[] SMALL_REQUEST = bytes("GET /small HTTP/1.1\nHost: 127.0.0.1:8080\n\n", "");
    private static final byte[] SMALL_RESPONSE = bytes(
            """
            HTTP/1.1 200 OK
            Server: nginx/1.22.1
            Date: Sat, 21 Nov 2026 21:42:41 GMT
            Content-Type: application/octet-stream
            Content-Length: 100
            Connection: keep-alive

            """,
            "x".repeat(100));
    private static final byte[] REAL_REQUEST = bytes(
            """
            GET /catalogue/lamps?sort=price&page=5 HTTP/1.1
            Host: shop.example.test
            Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
            Accept-Encoding: gzip, deflate, br
            Accept-Language: en-US,en;q=0.7,de;q=0.3
            Cache-Control: no-cache
            Cookie: consent=yes; theme=dark; visit=3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a; cart=b1c9b1c9
            Referer: http://shop.example.test/catalogue/lamps?sort=price&page=4
            Upgrade-Insecure-Requests: 1
            User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0

            """,
            "");
    private static final byte[] REAL_RESPONSE = bytes(
            """
            HTTP/1.1 200 OK
            Server: nginx/1.22.1
            Date: Sat, 21 Nov 2026 21:42:41 GMT
            Content-Type: text/html
            Content-Length: 2000
            Connection: keep-alive
            Cache-Control: private, max-age=0, must-revalidate
            Content-Language: en
            Content-Security-Policy: default-src 'self'; img-src 'self' data: https://images.example.test
            ETag: "5f2c-61a8e0b3c4d5e"
            Referrer-Policy: strict-origin-when-cross-origin
            Set-Cookie: visit=3f7a3f7a3f7a3f7a3f7a3f7a; Path=/; HttpOnly; SameSite=Lax
            Strict-Transport-Security: max-age=63072000
            Vary: Accept-Encoding, Cookie
            X-Content-Type-Options: nosniff
            X-Frame-Options: SAMEORIGIN

            """,
            "x".repeat(2000));

    @Param({"small", "real"})
    String messages = "small";

    // Cached by thread, as on event loops.
    private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true, 1, 1, 8 << 10, 7, 256, 64, true);
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final TimerWheel wheel = new TimerWheel(loop.eventLoop());
    private final Metrics metrics = new Metrics("benchmark");
    private final LoopMetrics meters = metrics.newLoop(wheel, () -> 0);
    private final List<EmbeddedChannel> clients = new ArrayList<>();
    private final ArrayDeque<Kept> idle = new ArrayDeque<>();
    private final ArrayDeque<Kept> busy = new ArrayDeque<>(); // in the order of what was sent on them
    private byte[] request = {};
    private byte[] response = {};

    private static byte[] bytes(String head, String body) {
        return (head.replace("\n", "\r\n") + body).getBytes(StandardCharsets.US_ASCII);
    }

    /** A connection to the upstream, which takes one request after another. */
    private final class Kept implements Http1ClientConnection.Listener {
        final EmbeddedChannel channel = channel();
        final Http1ClientConnection connection =
                new Http1ClientConnection(this, meters.upstream("app"), wheel, Http1ClientSettings.DEFAULT);

        Kept() {
            channel.pipeline().addLast(new ByteCounter(meters.upstream("app"), wheel), connection);
        }

        @Override
        public void onReusable(Http1ClientConnection reusable, long keepAliveMillis) {
            idle.addLast(this);
        }

        @Override
        public void onClosed(Http1ClientConnection closed) {
            throw new IllegalStateException("an upstream connection was closed");
        }

        @Override
        public void onStale(Http1ClientConnection closed) {
            throw new IllegalStateException("an upstream connection was stale");
        }
    }

    /** Opens streams on connections, the last used first, and makes more of them if all are busy. */
    private StreamOpener.Opening open(ResponseEvents events, StreamOpener.Callback callback) {
        Kept kept = idle.isEmpty() ? new Kept() : idle.removeLast();
        busy.addLast(kept);
        callback.onOpened(kept.connection.open(events), HOP);
        return StreamOpener.Opening.DONE;
    }

    private EmbeddedChannel channel() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(allocator);
        return channel;
    }

    @Setup
    public void connect() {
        request = messages.equals("small") ? SMALL_REQUEST : REAL_REQUEST;
        response = messages.equals("small") ? SMALL_RESPONSE : REAL_RESPONSE;
        ExchangeHandler handler = new ExchangeHandler(
                (upstream, endpoint, demand, client, events, callback) -> open(events, callback), wheel, meters);
        handler.use(new OneRouter(router()), () -> {});
        for (int i = 0; i < CONNECTIONS; i++) {
            EmbeddedChannel channel = channel();
            ConnectionInfo info = new ConnectionInfo(
                    0,
                    "web",
                    HttpVersion.HTTP_1_1,
                    new InetSocketAddress("192.0.2.7", 5555),
                    new InetSocketAddress("192.0.2.1", 80),
                    null);
            channel.pipeline()
                    .addLast(
                            new ByteCounter(meters.listener("web"), wheel),
                            new Http1ServerConnection(
                                    info,
                                    handler,
                                    meters.listener("web"),
                                    wheel,
                                    new Http1ServerSettings(
                                            HeadLimits.DEFAULT,
                                            new ConnectionTimeouts(10_000, 30_000, 60_000, 0, 60_000),
                                            false),
                                    null));
            clients.add(channel);
        }
    }

    /** Forwards everything as it is. */
    private static Router router() {
        List<Endpoint> endpoints = List.of(new Endpoint(0, "app.test", 80, 1));
        Upstream upstream = new Upstream(
                "app",
                endpoints,
                RoundRobin::new,
                UpstreamValues.builder()
                        .protocol(Protocol.HTTP1)
                        .maxConnections(1024)
                        .maxPendingRequests(1024)
                        .maxRequests(1024)
                        .connectMillis(5_000)
                        .tlsHandshakeMillis(5_000)
                        .poolAcquireMillis(5_000)
                        .responseHeadersMillis(60_000)
                        .idleMillis(60_000)
                        .build());
        Route route = new Route(
                "app",
                List.of(),
                Route.Forwarding.to(client -> upstream),
                new Route.Timeouts(0, 0, 300_000, TunnelTimeouts.NONE),
                Route.Upgrades.NONE);
        return new RouterBuilder()
                .add(List.of(), List.of(MatchConfig.ANY), route)
                .build();
    }

    /** A request by each client, as one turn of the event loop finds them, then a response to each. */
    @Benchmark
    @OperationsPerInvocation(CONNECTIONS)
    public int exchange() {
        int bytes = 0;
        for (EmbeddedChannel client : clients) {
            read(client, request);
        }
        for (Kept kept = busy.pollFirst(); kept != null; kept = busy.pollFirst()) {
            bytes += drain(kept.channel);
            read(kept.channel, response);
        }
        for (EmbeddedChannel client : clients) {
            bytes += drain(client);
        }
        return bytes;
    }

    @TearDown
    public void close() {
        clients.forEach(EmbeddedChannel::finishAndReleaseAll);
        loop.finishAndReleaseAll();
        metrics.close();
    }

    private void read(EmbeddedChannel channel, byte[] message) {
        ByteBuf buffer = allocator.directBuffer(4096).writeBytes(message);
        channel.pipeline().fireChannelRead(buffer).fireChannelReadComplete();
    }

    private static int drain(EmbeddedChannel channel) {
        int bytes = 0;
        for (ByteBuf buffer = channel.readOutbound(); buffer != null; buffer = channel.readOutbound()) {
            bytes += buffer.readableBytes();
            buffer.release();
        }
        return bytes;
    }
}
