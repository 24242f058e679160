package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.upstream.Host;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Fewer connections than event loops would like to have. */
class FewConnectionsTest extends PoolFixture {
    // HTTP/2

    @Test
    void eachEventLoopHasAConnectionOfHttp2WhateverTheLimit() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 1;
        FakeUpstream origin = http2(100);
        to(origin);
        Reply first = get(0, "/hold");
        Runnable answer = heldBy(origin);

        assertThat(get(1, "/").connection()).isEqualTo(2); // while the other loop's is never idle
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
    }

    @Test
    void theOneConnectionOfEachEventLoopIsKept() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 1;
        to(http2(100));
        for (int i = 0; i < 3; i++) {
            assertThat(get(0, "/").connection()).isEqualTo(1);
            assertThat(get(1, "/").connection()).isEqualTo(2);
        }
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
    }

    @Test
    void beyondTheLimitNoEventLoopKeepsMoreThanOne() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 2;
        FakeUpstream origin = http2(1);
        to(origin);
        List<Reply> replies = List.of(get(0, "/hold"), get(0, "/hold"));
        List<Runnable> answers = List.of(heldBy(origin), heldBy(origin));
        assertThat(get(1, "/").connection()).isEqualTo(3);
        assertThat(counted()).isEqualTo(new PoolCounts(1, 2, 0, 0));

        answers.forEach(Runnable::run);
        for (Reply reply : replies) {
            reply.connection();
        }
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
    }

    @Test
    void aHandshakeThatLeadsToHttp2LetsOtherEventLoopsConnect() throws Exception {
        settings.tls = tls(true, "localhost", null);
        settings.maxConnections = 1;
        FakeUpstream origin = https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1"));
        to(origin);
        List<Reply> replies = List.of(get(0, "/hold"), get(1, "/hold")); // neither knows yet what will be spoken
        List<Runnable> answers = List.of(heldBy(origin), heldBy(origin));
        answers.forEach(Runnable::run);
        assertThat(List.of(replies.get(0).connection(), replies.get(1).connection()))
                .containsExactlyInAnyOrder(1, 2);
    }

    @Test
    void aConnectionThatGoesAwayIsReplacedWhileItsStreamsGoOn() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 1;
        FakeUpstream origin = http2(1);
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply second = get("/"); // waits for the only stream
        counted();
        origin.connections.get(0).writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
        assertThat(second.connection()).isEqualTo(2);
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        awaitEvent("closed");
    }

    @Test
    void aConnectionOfFullAgeTakesNoMoreStreamsWhileItsOwnGoOn() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxLifetimeMillis = 600_000;
        FakeUpstream origin = http2(100);
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(601));
        assertThat(get("/").connection()).isEqualTo(2);
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
    }

    // HTTP/1.1

    @Test
    void aConnectionGoesToTheEventLoopThatHasWaitedMuchLonger() throws Exception {
        settings.maxConnections = 2;
        FakeUpstream origin = http1();
        to(origin);
        Reply longer = get(0, "/hold");
        Runnable answerLonger = heldBy(origin);
        Reply shorter = get(1, "/hold");
        Runnable answerShorter = heldBy(origin);
        Reply early = get(0, "/");
        counted(); // it waits
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(1));
        Reply late = get(1, "/hold");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 2, 0, 2));

        answerShorter.run();
        assertThat(shorter.connection()).isEqualTo(2);
        early.connection(); // though the connection that became free is not its event loop's
        heldBy(origin).run();
        late.connection();
        answerLonger.run();
        assertThat(longer.connection()).isEqualTo(1);
        counted();
        while (events.remove("closed")) {}
    }

    // Permits

    @Test
    void whoComesLaterGetsNoPermitBeforeWhoWaits() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        SharedUpstream shared = new SharedUpstream(upstream, List.of());
        Waiting first = new Waiting();
        Waiting second = new Waiting();
        Waiting third = new Waiting();
        assertThat(shared.permits.tryAcquire(first.permit)).isTrue();
        assertThat(shared.permits.tryAcquire(second.permit)).isFalse();
        shared.permits.release(upstream.hosts().get(0));
        assertThat(shared.permits.tryAcquire(third.permit)).isFalse();
        second.awaitPermit();
        assertThat(third.permits).isEmpty();
        shared.permits.release(upstream.hosts().get(0));
        third.awaitPermit();
        shared.permits.release(upstream.hosts().get(0));
        assertThat(upstream.connections().taken()).isZero();
    }

    @Test
    void aPermitBeyondTheLimitIsPaidBackFirst() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        SharedUpstream shared = new SharedUpstream(upstream, List.of());
        Waiting first = new Waiting();
        Waiting second = new Waiting();
        assertThat(shared.permits.tryAcquire(first.permit)).isTrue();
        shared.permits.acquireBeyond(first.permit);
        assertThat(shared.permits.tryAcquire(second.permit)).isFalse();
        shared.permits.release(upstream.hosts().get(0));
        shared.permits.leave(second.permit);
        assertThat(second.permit.isWaiting()).isFalse(); // it was given none
        assertThat(shared.permits.tryAcquire(second.permit)).isFalse();
        shared.permits.release(upstream.hosts().get(0));
        second.awaitPermit();
        shared.permits.release(upstream.hosts().get(0));
        assertThat(upstream.connections().taken()).isZero();
    }

    private final class Waiting implements PermitWaiter.Applicant {
        final PermitWaiter permit;
        final BlockingQueue<Boolean> permits = new LinkedBlockingQueue<>();

        Waiting() {
            permit = new PermitWaiter(
                    ((LoopPools) pools.opener(0)).resources, upstream.hosts().get(0), false, this);
        }

        void awaitPermit() throws InterruptedException {
            assertThat(permits.poll(10, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public boolean hasNoConnection() {
            return true;
        }

        @Override
        public void onPermit(Host granted) {
            permits.add(true);
        }
    }
}
