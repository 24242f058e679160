package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pools of an upstream whose endpoints come and go. */
@Timeout(30)
class LiveEndpointsTest extends PoolFixture {
    private static EndpointSpec spec(int port) {
        return new EndpointSpec("127.0.0.1", port, 1, "127.0.0.1", null, EndpointSpec.STATIC);
    }

    private Endpoint endpoint(int position) {
        return upstream.endpoints().get(position);
    }

    /** Returns when the event loops have done what they were told before. */
    private int pools() throws Exception {
        int pools = 0;
        for (var view : this.pools.view(upstream)) {
            pools += view.get(10, TimeUnit.SECONDS).endpoints().size();
        }
        return pools;
    }

    private void to(FakeUpstream... origins) throws Exception {
        upstreamOf(
                java.util.stream.IntStream.range(0, origins.length)
                        .mapToObj(i -> new Endpoint(i, "127.0.0.1", origins[i].port(), 1))
                        .toList(),
                RoundRobin::new,
                DialSettings.DIRECT);
    }

    @Test
    void whoStaysKeepsItsConnectionsAndWhoGoesClosesThem() throws Exception {
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        FakeUpstream c = http1();
        to(a, b);
        getFrom(endpoint(0), "/").connection();
        getFrom(endpoint(1), "/").connection();
        upstream.update(List.of(spec(a.port()), spec(c.port())));
        awaitEvent("closed"); // the connection to b
        getFrom(endpoint(0), "/").connection();
        getFrom(endpoint(1), "/").connection();
        assertThat(a.connections).hasSize(1);
        assertThat(c.connections).hasSize(1);
        assertThat(causes).containsExactly(dev.gateway.stream.CloseCause.ADDRESS);
        assertThat(pools()).isEqualTo(4); // on two loops
    }

    @Test
    void anEndpointThatDrainsKeepsNoConnectionWhenItsZoneHasChanged() throws Exception {
        FakeUpstream a = http1();
        to(a);
        upstream.health().drain(endpoint(0).toString(), true);
        String host = endpoint(0).host();
        upstream.update(List.of(new EndpointSpec(host, a.port(), 1, host, "b", EndpointSpec.STATIC)));
        check("/").connection();
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 0, 0));
    }

    @Test
    void aRequestForOneThatHasJustGoneGoesToAnother() throws Exception {
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        Endpoint gone = endpoint(0);
        upstream.update(List.of(spec(b.port())));
        getFrom(gone, "/").connection();
        assertThat(a.connections).isEmpty();
        assertThat(b.connections).hasSize(1);
    }

    @Test
    void whatHasBegunEndsWhereItBegan() throws Exception {
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        Reply held = getFrom(endpoint(0), "/hold");
        Runnable answer = heldBy(a);
        upstream.update(List.of(spec(b.port())));
        getFrom(endpoint(0), "/").connection();
        answer.run();
        held.connection();
        awaitEvent("closed");
        assertThat(pools()).isEqualTo(2);
    }

    @Test
    void whoWaitsForOneThatGoesWaitsElsewhere() throws Exception {
        settings.maxConnections = 1;
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        Reply held = getFrom(endpoint(0), "/hold");
        Runnable answer = heldBy(a);
        Reply waits = getFrom(endpoint(0), "/");
        assertThat(counted().pending()).isEqualTo(1);
        upstream.update(List.of(spec(b.port())));
        waits.connection();
        assertThat(b.connections).hasSize(1);
        answer.run();
        held.connection();
    }

    @Test
    void whoWaitsForOneThatStaysTakesOneThatHasCome() throws Exception {
        settings.maxConnections = 2;
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        Reply held = getFrom(endpoint(0), "/hold");
        Runnable answer = heldBy(a);
        Reply alsoHeld = getFrom(endpoint(0), "/hold");
        Runnable alsoAnswer = heldBy(a);
        Reply waits = getFrom(endpoint(0), "/");
        assertThat(counted().pending()).isEqualTo(1);
        upstream.update(List.of(spec(a.port()), spec(b.port())));
        waits.connection();
        assertThat(b.connections).hasSize(1);
        answer.run();
        alsoAnswer.run();
        held.connection();
        alsoHeld.connection();
    }

    @Test
    void whatIsLeftOfOneThatHasGoneCanBeEnded() throws Exception {
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        Reply held = getFrom(endpoint(0), "/hold");
        heldBy(a);
        List<Host> gone = upstream.update(List.of(spec(b.port())));
        pools.end(upstream, gone);
        awaitEvent("closed");
        held.failure();
        assertThat(pools()).isEqualTo(2);
    }

    @Test
    void manyUpdatesLeaveNothingBehind() throws Exception {
        FakeUpstream a = http1();
        FakeUpstream b = http1();
        to(a);
        for (int i = 0; i < 10_000; i++) {
            upstream.update(List.of(spec(a.port()), spec(i % 2 == 0 ? b.port() : 1 + i % 1000)));
            if (i % 100 == 0) {
                getFrom(endpoint(1), "/").connection();
                getFrom(endpoint(0), "/").connection();
                assertThat(pools()).isEqualTo(4);
            }
        }
        assertThat(a.connections).hasSize(1);
        assertThat(pools()).isEqualTo(4);
    }
}
