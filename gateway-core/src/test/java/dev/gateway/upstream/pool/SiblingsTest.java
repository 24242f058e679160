package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.stream.Cause;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two endpoints of one upstream: whoever has no room for a request leaves it to the other. */
@Timeout(30)
@SuppressWarnings("NullAway.Init") // what each test sets
class SiblingsTest extends PoolFixture {
    private Endpoint first;
    private Endpoint second;
    private FakeUpstream a;
    private FakeUpstream b;
    private Reply heldByA;
    private Reply heldByB;
    private Runnable answerA;
    private Runnable answerB;

    private void toTwo() throws Exception {
        a = http1();
        b = http1();
        to(a.port(), b.port());
    }

    /** Each of the two endpoints may have one connection, and has one on which a request is held. */
    private void toTwoWithoutRoom() throws Exception {
        settings.maxConnections = 2;
        toTwo();
        heldByA = getFrom(first, "/hold");
        heldByB = getFrom(second, "/hold");
        answerA = heldBy(a);
        answerB = heldBy(b);
    }

    @Test
    void whatAnEndpointHasNoRoomForGoesToTheOther() throws Exception {
        settings.maxConnections = 2;
        toTwo();
        Reply held = getFrom(first, "/hold");
        Runnable answer = heldBy(a);
        getFrom(first, "/").connection();
        getFrom(first, "/").connection();
        assertThat(a.connections).hasSize(1);
        assertThat(b.connections).hasSize(1);
        answer.run();
        held.connection();
    }

    @Test
    void theLimitOfRequestsIsSharedInTheSameWay() throws Exception {
        settings.maxRequests = 2;
        toTwo();
        Reply held = getFrom(first, "/hold");
        Runnable answer = heldBy(a);
        getFrom(first, "/").connection();
        assertThat(a.connections).hasSize(1);
        assertThat(b.connections).hasSize(1);
        answer.run();
        held.connection();
    }

    @Test
    void whoWaitsTakesTheConnectionThatIsFreeFirst() throws Exception {
        toTwoWithoutRoom();
        Reply waits = getFrom(first, "/");
        assertThat(counted().pending()).isEqualTo(1);
        answerB.run();
        waits.connection();
        assertThat(List.of(a.connections.size(), b.connections.size())).containsExactly(1, 1);
        heldByB.connection();
        answerA.run();
        heldByA.connection();
    }

    @Test
    void whoWaitsOnAnotherEventLoopGetsTheRightToWhicheverConnection() throws Exception {
        toTwoWithoutRoom();
        Reply waits = get(1, "/");
        assertThat(counted().pending()).isEqualTo(1);
        answerB.run();
        waits.connection();
        assertThat(b.connections).hasSize(2);
        heldByB.connection();
        awaitEvent("closed");
        answerA.run();
        heldByA.connection();
    }

    @Test
    void noMoreIsGivenUpForAnotherEventLoopThanItNeeds() throws Exception {
        settings.maxConnections = 2;
        toTwo();
        getFrom(first, "/").connection();
        getFrom(second, "/").connection();
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
        get(1, "/").connection();
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
        assertThat(events).doesNotContain("closed");
    }

    @Test
    void whatAnEndpointOutOfServiceHoldsIsNotMissedAndWhoWaitsThereMovesOn() throws Exception {
        toTwoWithoutRoom();
        Reply waits = getFrom(first, "/");
        assertThat(counted().pending()).isEqualTo(1);
        upstream.health().drain(first.toString(), true);
        waits.connection();
        assertThat(b.connections).hasSize(2);
        answerA.run();
        answerB.run();
        heldByA.connection();
        heldByB.connection();
    }

    @Test
    void nobodyWaitsLongForAConnectionThatIsNotMadeWhileTheOtherHasRoom() throws Exception {
        settings.connectMillis = 40_000;
        b = http1();
        to(blackHole(), b.port());
        Reply waits = getFrom(first, "/");
        assertThat(counted().connecting()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        waits.connection();
        assertThat(upstream.health().report(first).state()).isEqualTo(Health.State.UNREACHABLE);
        getFrom(first, "/").connection(); // at once, as somebody is finding out already
        assertThat(b.connections).hasSize(1);
        assertThat(counted().connecting()).isEqualTo(1);
        endConnecting();
    }

    @Test
    void whatCannotReachItsEndpointIsSpreadOverTheOthersByTheirWeights() throws Exception {
        settings.connectMillis = 40_000;
        settings.protocol = Protocol.H2C;
        List<FakeUpstream> origins = List.of(http2(1000), http2(1000), http2(1000));
        List<Integer> weights = List.of(1, 1, 2);
        List<Endpoint> endpoints = new ArrayList<>();
        endpoints.add(new Endpoint(0, "127.0.0.1", blackHole(), 1));
        endpoints.add(new Endpoint(1, "127.0.0.1", closedPort(), 1)); // the same zone, which is gone
        for (int i = 0; i < origins.size(); i++) {
            endpoints.add(new Endpoint(2 + i, "127.0.0.1", origins.get(i).port(), weights.get(i)));
        }
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        assertFailed(getFrom(endpoints.get(1), "/"), Cause.CONNECT_FAILED);
        for (Endpoint reachable : endpoints.subList(2, 5)) {
            getFrom(reachable, "/").connection();
        }
        Endpoint lost = endpoints.get(0);
        Reply waits = getFrom(lost, "/");
        assertThat(counted().connecting()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        waits.connection();
        List<Reply> held = new ArrayList<>();
        for (int i = 0; i < 80; i++) {
            held.add(getFrom(lost, "/hold"));
        }
        counted(); // all have been sent
        for (int i = 0; i < origins.size(); i++) {
            assertThat(upstream.host(endpoints.get(2 + i)).requests().taken())
                    .isCloseTo(20 * weights.get(i), Offset.offset(8));
        }
        for (Reply each : held) {
            each.cancel();
        }
        endConnecting();
    }

    @Test
    void whatAnEndpointHasNoRoomForDoesNotGoToOneThatCannotBeReached() throws Exception {
        settings.maxRequests = 8; // one for each endpoint
        a = http1();
        b = http1();
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            endpoints.add(new Endpoint(i, "127.0.0.1", closedPort(), 1));
        }
        endpoints.add(new Endpoint(6, "127.0.0.1", a.port(), 1));
        endpoints.add(new Endpoint(7, "127.0.0.1", b.port(), 1));
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        for (Endpoint closed : endpoints.subList(0, 6)) {
            assertFailed(getFrom(closed, "/"), Cause.CONNECT_FAILED);
        }
        Reply held = getFrom(endpoints.get(6), "/hold");
        Runnable answer = heldBy(a);
        for (int i = 0; i < 5; i++) {
            Reply moved = getFrom(endpoints.get(6), "/");
            moved.connection();
            assertThat(moved.movedTo).isEqualTo(endpoints.get(7));
        }
        answer.run();
        held.connection();
    }

    @Test
    void aRetryIsNotMovedBackToTheEndpointThatItLeft() throws Exception {
        settings.connectMillis = 40_000;
        a = http1();
        b = http1();
        Endpoint lost = new Endpoint(0, "127.0.0.1", blackHole(), 1);
        first = new Endpoint(1, "127.0.0.1", a.port(), 1);
        second = new Endpoint(2, "127.0.0.1", b.port(), 1);
        upstreamOf(List.of(lost, first, second), RoundRobin::new, DialSettings.DIRECT);
        getFrom(first, "/").connection();
        for (int i = 0; i < 10; i++) {
            Reply retry = Reply.getAgain(pools.opener(0), transport.loops().get(0), upstream, lost, first);
            if (i == 0) {
                assertThat(counted().connecting()).isEqualTo(1);
                ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
            }
            retry.connection();
            assertThat(retry.movedTo).isEqualTo(second);
        }
        endConnecting();
    }

    private Reply getFromAny(Endpoint endpoint) {
        return Reply.getFromAny(pools.opener(0), transport.loops().get(0), upstream, endpoint);
    }

    /** Makes an upstream of two endpoints, of which the second is ejected. */
    private void toTwoWithTheSecondEjected(int port) throws Exception {
        b = http1();
        first = new Endpoint(0, "127.0.0.1", port, 1);
        second = new Endpoint(1, "127.0.0.1", b.port(), 1);
        OutlierDetection ejects = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 60_000, 60_000, 100);
        upstreamOf(new Health(List.of(first, second), RoundRobin::new, ejects, null, System::nanoTime));
        upstream.health().onAnswered(second, 503);
        assertThat(upstream.host(second).isSpare()).isTrue();
    }

    @Test
    void aRequestGetsAConnectionToAnEjectedEndpointIfItAsksForThat() throws Exception {
        settings.maxConnections = 1;
        a = http1();
        toTwoWithTheSecondEjected(a.port());
        Reply held = getFrom(first, "/hold");
        Runnable answer = heldBy(a);
        Reply there = getFromAny(second);
        there.connection();
        assertThat(there.movedTo).isNull();
        assertThat(b.connections).hasSize(1);
        answer.run();
        held.connection();
    }

    @Test
    void aRequestThatIsSlowToConnectGoesToAnEjectedEndpointRatherThanWait() throws Exception {
        settings.connectMillis = 40_000;
        toTwoWithTheSecondEjected(blackHole());
        Reply stays = getFrom(first, "/");
        Reply moves = getFromAny(first);
        assertThat(counted().connecting()).isEqualTo(2);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        moves.connection();
        assertThat(moves.movedTo).isEqualTo(second);
        assertThat(stays.isDone()).isFalse();
        stays.cancel();
        endConnecting();
    }

    @Test
    void aRequestThatIsSlowToConnectGoesEvenWhereNoConnectionCouldBeMadeLately() throws Exception {
        settings.connectMillis = 40_000;
        b = http1();
        to(blackHole(), b.port());
        upstream.health().onUnreached(second, Cause.CONNECT_FAILED);
        Reply moves = getFromAny(first);
        assertThat(counted().connecting()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        moves.connection();
        assertThat(moves.movedTo).isEqualTo(second);
        endConnecting();
    }

    private void endConnecting() throws Exception {
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(40));
        while (counted().connecting() > 0) {
            Thread.onSpinWait(); // until it has failed
        }
    }

    @Test
    void whoIsGivenTheRightToAnEndpointThatLeavesServiceMeanwhileGetsInLineAgain() throws Exception {
        toTwoWithoutRoom();
        Reply waits = get(1, "/");
        assertThat(counted().pending()).isEqualTo(1);
        CountDownLatch outOfService = new CountDownLatch(1);
        transport.loops().get(1).execute(() -> awaitUninterruptibly(outOfService));
        heldByB.cancel();
        awaitEvent("closed"); // so the right to another connection is on its way to the other loop
        upstream.health().drain(second.toString(), true);
        outOfService.countDown();
        waits.connection();
        assertThat(a.connections).hasSize(2);
        assertThat(b.connections).hasSize(1);
        answerA.run();
        heldByA.connection();
    }

    @Test
    void whoWaitsIsGivenTheShareOfAnEndpointThatIsRemoved() throws Exception {
        toTwoWithoutRoom();
        Reply waits = getFrom(first, "/");
        assertThat(counted().pending()).isEqualTo(1);
        pools.keepOnly(upstream, List.of(first));
        assertFailed(heldByB, Cause.DRAIN);
        waits.connection();
        assertThat(a.connections).hasSize(2);
        answerA.run();
        heldByA.connection();
    }

    private static void assertFailed(Reply reply, Cause cause) throws Exception {
        assertThat(reply.failure().cause()).isEqualTo(cause);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void to(int... ports) throws Exception {
        first = new Endpoint(0, "127.0.0.1", ports[0], 1);
        second = new Endpoint(1, "127.0.0.1", ports[1], 1);
        List<Endpoint> endpoints = List.of(first, second);
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
    }
}
