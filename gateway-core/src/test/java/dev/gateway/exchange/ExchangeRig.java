package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.exchange.Fakes.FakeOpener;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Records;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.filter.Filter;
import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.format.Durations;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.overload.LoopGate;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of exchanges stand on: a client and an upstream that the test plays, and a clock that it moves. */
abstract class ExchangeRig {
    static final Endpoint FIRST = new Endpoint(0, "app.test", 9000, 1);
    static final Endpoint SECOND = new Endpoint(1, "app2.test", 9000, 1);

    final EmbeddedChannel loop = new EmbeddedChannel();
    final FakeServerStream client = new FakeServerStream();
    final FakeOpener opener = new FakeOpener();
    final Settings settings = new Settings();
    final Records records = new Records();
    final List<ByteBuf> buffers = new ArrayList<>();
    final List<Filter> filters = new ArrayList<>();
    List<Endpoint> endpoints = List.of(FIRST, SECOND);

    @Nullable
    Balancer balancer; // null for one that takes the other endpoint after a failure

    boolean healthy = true;
    Route.Timeouts timeouts = Route.Timeouts.NONE;
    Route.Retry retry = Route.Retry.NONE;
    long responseHeadersMillis;

    @Nullable
    OutlierDetection outliers;

    boolean closeOnFailure;

    @Nullable
    Health health; // of the upstream of the last request

    @Nullable
    Upstream app; // that of the last request

    // It wraps round in the middle of most tests, as System.nanoTime may.
    long now = Long.MAX_VALUE - TimeUnit.MILLISECONDS.toNanos(500);

    LoopGate gate = LoopGate.OPEN;

    @Nullable
    ExchangeHandler handler;

    /** Believes the peer of all fake connections, and another proxy in front of it. */
    static ClientTrust trust(HeadersWithUnderscores oddNames) {
        Cidr peer = Cidr.parse("192.0.2.0/24");
        Cidr other = Cidr.parse("2001:db8:1::/48");
        return new ClientTrust(
                CidrSet.of(List.of(Objects.requireNonNull(peer), Objects.requireNonNull(other))), false, oddNames);
    }

    static final Failure GONE = Failure.of(Cause.CLIENT_CLOSED, "connection closed");

    @BeforeEach
    void freezeTime() {
        loop.freezeTime();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        assertThat(handler().active()).as("exchanges in flight").isZero();
        assertThat(client.account.held()).as("bytes held for the client").isZero();
        assertThat(records.completed).as("records of completed exchanges").hasSize(records.begun);
        assertThat(records.attempts).as("ended attempts").hasSize(records.attemptsBegun);
        assertThat(records.meters).as("attempts at endpoints").allSatisfy(each -> assertThat(each.active())
                .isZero());
        assertThat(buffers).as("buffers").allSatisfy(buffer -> assertThat(buffer.refCnt())
                .isZero());
        assertThatEveryByteOfATunnelWasCredited();
        loop.advanceTimeBy(1, TimeUnit.HOURS);
        now += TimeUnit.HOURS.toNanos(1);
        loop.runScheduledPendingTasks();
        loop.runScheduledPendingTasks();
        assertThat(loop.runScheduledPendingTasks()).as("timers still armed").isEqualTo(-1);
        loop.finishAndReleaseAll();
    }

    private void assertThatEveryByteOfATunnelWasCredited() {
        for (ExchangeRecord record : records.completed) {
            if (record.openedNanos != 0) {
                assertThat(records.tunnelReceived).isEqualTo(record.receivedBytes);
                assertThat(records.tunnelSent).isEqualTo(record.sentBytes);
            }
            if (record.openedNanos != 0 && record.cause == null) {
                assertThat((long) client.consumed).isEqualTo(record.receivedBytes);
                assertThat((long) upstream().consumed).isEqualTo(record.sentBytes);
            }
        }
    }

    ExchangeHandler handler() {
        if (handler == null) {
            handler = new ExchangeHandler(opener, new TimerWheel(loop.eventLoop(), () -> now), records, gate);
            handler.loop.jitter = most -> most; // the longest waits
            handler.use(settings, () -> {});
        }
        return handler;
    }

    void route() {
        Balancer used = balancer != null
                ? balancer
                : request ->
                        !healthy ? null : FIRST.equals(request.previous()) && endpoints.size() > 1 ? SECOND : FIRST;
        health = new Health(
                endpoints, hosts -> used, new HealthSettings(outliers, null, 0, 0, null, closeOnFailure), () -> now);
        app = new Upstream("app", health, policy());
        settings.route(filters, app, timeouts, retry);
    }

    UpstreamSettings policy() {
        return UpstreamValues.builder()
                .maxConnections(10)
                .maxPendingRequests(10)
                .maxRequests(10)
                .responseHeadersMillis(responseHeadersMillis)
                .build();
    }

    /** Takes the time limits and retries of a configuration that says nothing of them. */
    void useDefaults() {
        LoadResult result = ConfigLoader.parse(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: app.test, port: 9000}]}]
                """);
        GatewayConfig config = ((LoadResult.Valid) result).config();
        RuleConfig rule = config.routes().get(0).rules().get(0);
        timeouts = RouteAssembly.timeouts(rule);
        retry = new Route.Retry(rule.forwarding().retry());
        responseHeadersMillis =
                Durations.millis(config.upstreams().get(0).timeouts().responseHeaders());
    }

    StreamEvents request(String method, String path, boolean last) {
        route();
        return handler().onRequest(client, head(method, path), last);
    }

    /** Sends a call whose client gives this time, empty for none. */
    StreamEvents grpc(String time) {
        route();
        RequestHead head = head("POST", "/Shop/Buy");
        head.fields().add(FieldName.CONTENT_TYPE, "application/grpc+proto");
        if (!time.isEmpty()) {
            head.fields().add(FieldName.of("grpc-timeout"), time);
        }
        StreamEvents events = handler().onRequest(client, head, true);
        opener.last().succeed();
        return events;
    }

    /** Offers what clients of a forward proxy want. */
    void offerTunnels() {
        Upstream named = new Upstream("egress", List.of(), NamedByRequest.POLICY, policy());
        Route route = new Route(
                "egress", filters, new Route.Forwarding(client -> named, retry, true), timeouts, Route.Upgrades.NONE);
        settings.tunnels = head -> new Router.Match(route, 0);
    }

    /** Asks for a tunnel. */
    StreamEvents connect(String authority) {
        return handler().onRequest(client, head("CONNECT", authority, ""), false);
    }

    /** Ends both directions of a tunnel. */
    void close(StreamEvents events) {
        events.onData(Unpooled.EMPTY_BUFFER, true);
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, true);
    }

    /** Asks for a tunnel, and gets it. */
    StreamEvents tunnel() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onReadComplete();
        return events;
    }

    StreamEvents get() {
        return request("GET", "/", true);
    }

    static RequestHead head(String method, String path) {
        return head(method, "shop.example.com", path);
    }

    static RequestHead head(String method, String authority, String path) {
        return new RequestHead(
                Method.of(method),
                new AsciiString("http"),
                new AsciiString(authority),
                new AsciiString(path),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
    }

    static ResponseHead response(int status) {
        return new ResponseHead(status, null, new Fields(), RequestHead.UNKNOWN_LENGTH);
    }

    ByteBuf bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteBuf buffer = ByteBufAllocator.DEFAULT.buffer(bytes.length).writeBytes(bytes); // charged by its capacity
        buffers.add(buffer);
        return buffer;
    }

    void pass(long millis) {
        for (long i = 0; i < millis; i += TimerWheel.TICK_MILLIS) {
            now += TimeUnit.MILLISECONDS.toNanos(TimerWheel.TICK_MILLIS);
            loop.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
    }

    ExchangeRecord record() {
        assertThat(records.completed).hasSize(1);
        return records.completed.get(0);
    }

    void assertAnswered(int status, Cause cause) {
        assertThat(client.status()).isEqualTo(status);
        assertThat(client.ended).isTrue();
        assertThat(client.reset).isNull();
        assertThat(client.unflushed).isZero();
        assertThat(record().status).isEqualTo(status);
        assertThat(record().cause).isEqualTo(cause);
    }

    static Failure failure(Cause cause, RetrySafety safety) {
        return Failure.of(cause, safety, "made by the test");
    }

    static Failure stale(RetrySafety safety) {
        return new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, safety, true, "closed while idle");
    }

    FakeClientStream upstream() {
        return opener.last().stream;
    }
}
