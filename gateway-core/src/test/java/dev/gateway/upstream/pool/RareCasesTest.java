package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.TestDescriptors;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Failure;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What happens in few schedules only: cases that {@link PoolModelTest} has found. On one event loop, in virtual time. */
@SuppressWarnings("NullAway.Init") // what is set before the tests, or by each
class RareCasesTest implements ModelRequest.Owner {
    private static Transport transport; // makes no connection
    private static Resolver resolver; // of addresses

    private final List<String> told = new ArrayList<>();
    private final ModelLoop loop = new ModelLoop(() -> 0);
    private final ModelNetwork network =
            new ModelNetwork(TestDescriptors.unlimited(), () -> false, socket -> {}, event -> {});
    private final UpstreamValues settings = UpstreamValues.builder();
    private LoopPools loopPools;
    private Pools pools;
    private ModelUpstream upstream;
    private int requests;

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

    private void upstreamOf(int endpoints) throws Exception {
        loopPools = new LoopPools(network, resolver, loop, new TimerWheel(loop, () -> 0), Account.UNLIMITED);
        pools = new Pools(List.of(loopPools), (each, number) -> UpstreamObserver.NONE);
        List<Endpoint> all = IntStream.range(0, endpoints)
                .mapToObj(i -> new Endpoint(i, host(i), 80, 1))
                .toList();
        upstream = new ModelUpstream(1, new Upstream("app", all, RoundRobin::new, settings.build()), 1);
        pools.add(upstream.upstream);
        settle();
    }

    private static String host(int number) {
        return "192.0.2." + number;
    }

    /** Lets the loop do what it was handed. */
    private void settle() {
        boolean busy = true;
        while (busy) {
            busy = loop.takeOne();
        }
    }

    private ModelRequest ask(StreamKind kind, int endpoint) {
        ModelRequest request = new ModelRequest(
                ++requests, upstream, 0, kind, 1, upstream.upstream.endpoints().get(endpoint), 0, this);
        loop.run(() -> request.ask(pools.opener(0)));
        settle();
        return request;
    }

    /** Returns the only connection to an endpoint. */
    private ModelSocket socket(int endpoint) {
        List<ModelSocket> to = network.sockets.stream()
                .filter(each -> each.address.getHostString().equals(host(endpoint)))
                .toList();
        assertThat(to).hasSize(1);
        return to.get(0);
    }

    private void connect(int endpoint) {
        loop.run(socket(endpoint)::connect);
        settle();
    }

    private void connect(int endpoint, int streams) {
        connect(endpoint);
        ModelSocket socket = socket(endpoint);
        loop.run(() -> socket.receive(socket.server.settings(streams)));
        settle();
    }

    @Test
    void aConnectionForACheckOfAnEndpointThatHasGoneMeanwhileEndsWithItsUpstream() throws Exception {
        upstreamOf(2);
        ModelRequest check = ask(StreamKind.CHECK, 0);
        upstream.update(List.of(new EndpointSpec(host(1), 80, 1, host(1), null, EndpointSpec.STATIC)));
        settle();
        connect(0);
        assertThat(check.isOpen()).isTrue();
        assertThat(loopPools.counts(upstream.upstream)).isEqualTo(new PoolCounts(0, 1, 0, 0));
        pools.remove(upstream.upstream);
        settle();
        assertThat(network.sockets).isEmpty();
        assertThat(upstream.upstream.connections().taken()).isZero();
    }

    @Test
    void theSameWithoutAPermitForTheCheck() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        ask(StreamKind.EXCHANGE, 0);
        connect(0);
        ModelSocket used = socket(0);
        ModelRequest check = ask(StreamKind.CHECK, 0);
        upstream.update(List.of());
        loop.run(used::reset);
        settle();
        connect(0);
        assertThat(check.isOpen()).isTrue();
        assertThat(loopPools.counts(upstream.upstream)).isEqualTo(new PoolCounts(0, 1, 0, 0));
        pools.remove(upstream.upstream);
        settle();
        assertThat(network.sockets).isEmpty();
    }

    /** It counted on the connection that was being made, which takes one stream only. */
    @Test
    void whoHasNoStreamOnANewConnectionUsesTheNextThatIsFreeElsewhere() throws Exception {
        settings.protocol(Protocol.H2C).maxConnections(2);
        upstreamOf(2);
        ModelRequest first = ask(StreamKind.EXCHANGE, 0);
        ModelRequest second = ask(StreamKind.EXCHANGE, 0);
        ModelRequest third = ask(StreamKind.EXCHANGE, 1);
        connect(0, 1);
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isWaiting()).isTrue();
        connect(1, 2);
        assertThat(third.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(upstream.upstream.pendingRequests().taken()).isZero();
    }

    /** In front of it waits somebody for a connection of another kind. */
    @Test
    void whoWaitsBehindAnUpgradeUsesAStreamThatIsFreeElsewhere() throws Exception {
        settings.protocol(Protocol.H2C).maxConnections(2);
        upstreamOf(2);
        ask(StreamKind.EXCHANGE, 0);
        connect(0, 1);
        ask(StreamKind.EXCHANGE, 1);
        connect(1, 1);
        ModelRequest upgrade = ask(StreamKind.UPGRADE, 0);
        ModelRequest behind = ask(StreamKind.EXCHANGE, 0);
        assertThat(behind.isWaiting()).isTrue();
        ModelSocket socket = socket(1);
        int stream = socket.server.asked().get(0);
        loop.run(() -> socket.receive(socket.server.answer(stream, 200, "")));
        assertThat(upgrade.isWaiting()).isTrue();
        assertThat(behind.isOpen()).isTrue();
    }

    @Override
    public void onOpened(ModelRequest request) {
        told.add("opened " + request.number);
    }

    @Override
    public int nextTurn() {
        return 0;
    }

    @Override
    public void onMovedLater(ModelRequest request) {
        told.add("moved " + request.number);
    }

    @Override
    public void onAnswered(ModelRequest request, int status) {
        told.add("answered " + request.number);
    }

    @Override
    public void onFailed(ModelRequest request, Failure failure, boolean wasOpen) {
        told.add("failed " + request.number);
    }

    @Override
    public void violation(String what) {
        throw new AssertionError(what);
    }
}
