package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.stream.CloseCause;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Why a pool has closed a connection, whatever the protocol. */
class CloseCausesTest extends PoolFixture {
    private FakeUpstream origin(Protocol protocol) throws Exception {
        settings.protocol = protocol;
        FakeUpstream origin = protocol == Protocol.H2C ? http2(100) : http1();
        to(origin);
        assertThat(get("/").connection()).isEqualTo(1);
        return origin;
    }

    private @Nullable CloseCause cause() throws InterruptedException {
        return causes.poll(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void nobodyNeededIt(Protocol protocol) throws Exception {
        settings.idleMillis = 60_000;
        origin(protocol);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
        assertThat(cause()).isEqualTo(CloseCause.IDLE_TIMEOUT);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void itWasOld(Protocol protocol) throws Exception {
        settings.idleMillis = 900_000;
        settings.maxLifetimeMillis = 600_000;
        origin(protocol);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(601));
        assertThat(cause()).isEqualTo(CloseCause.MAX_LIFETIME);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void theEndpointClosedIt(Protocol protocol) throws Exception {
        origin(protocol).connections.get(0).close().sync();
        assertThat(cause()).isEqualTo(CloseCause.ENDPOINT);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void theUpstreamTakesNoMoreRequests(Protocol protocol) throws Exception {
        origin(protocol);
        pools.retire(upstream);
        assertThat(cause()).isEqualTo(CloseCause.DRAIN);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void theUpstreamIsRemovedWhileItIsInUse(Protocol protocol) throws Exception {
        FakeUpstream origin = origin(protocol);
        Reply held = get("/hold");
        heldBy(origin);
        pools.remove(upstream);
        held.failure();
        assertThat(cause()).isEqualTo(CloseCause.DRAIN);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aCheckMadeItBeyondTheLimit(Protocol protocol) throws Exception {
        settings.maxConnections = 1;
        FakeUpstream origin = protocol == Protocol.H2C ? http2(1) : http1();
        settings.protocol = protocol;
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        assertThat(check("/").connection()).isEqualTo(2);
        assertThat(cause()).isEqualTo(CloseCause.LIMIT);
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
    }

    @Test
    void manyOfItsRequestsWereGivenUpAndOthersFinished() throws Exception {
        settings.protocol = Protocol.H2C;
        FakeUpstream origin = http2(100);
        to(origin);
        Reply other = get("/hold");
        Runnable answer = heldBy(origin);
        giveUp100(origin);
        assertThat(get("/").connection()).isEqualTo(2);
        giveUp100(origin);
        assertThat(get("/").connection()).as("as the first one is still there").isEqualTo(2);
        answer.run();
        assertThat(other.connection()).isEqualTo(1);
        assertThat(cause()).isEqualTo(CloseCause.REQUEST);
    }

    private void giveUp100(FakeUpstream origin) throws Exception {
        for (int i = 0; i < 100; i++) {
            Reply given = get("/hold");
            heldBy(origin);
            given.cancel();
        }
    }

    @Test
    void anotherEventLoopNeededItsPlace() throws Exception {
        settings.maxConnections = 1;
        origin(Protocol.HTTP1);
        assertThat(get(1, "/").connection()).isEqualTo(2);
        assertThat(cause()).isEqualTo(CloseCause.LIMIT);
    }
}
