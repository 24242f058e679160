package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.stream.Cause;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Checks, which are asked whatever requests have taken. */
class ChecksTest extends PoolFixture {
    @Test
    void aCheckUsesAnIdleConnection() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(check("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void whatIsMadeForACheckWithinTheLimitIsKept() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        assertThat(check("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void aRequestThatComesMeanwhileGetsItToo() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        Reply[] replies = new Reply[2];
        transport
                .loops()
                .get(0)
                .submit(
                        () -> { // both before the event loop could know that it is connected
                            replies[0] = check("/");
                            replies[1] = get("/");
                        })
                .get();
        assertThat(replies[0].connection()).isEqualTo(1);
        assertThat(replies[1].connection()).isEqualTo(1);
    }

    @Test
    void beyondTheLimitsACheckGetsAConnectionThatNobodyElseDoes() throws Exception {
        settings.maxConnections = 1;
        settings.maxPendingRequests = 1;
        settings.maxRequests = 2;
        FakeUpstream origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply waiting = get("/");
        counted(); // it waits

        Reply check = check("/hold");
        Runnable answerCheck = heldBy(origin);
        assertThat(upstream.connections().taken()).isEqualTo(1);
        answerCheck.run();
        assertThat(check.connection()).isEqualTo(2);
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 0, 1));
        assertThat(waiting.isDone()).isFalse();
        assertThat(upstream.connections().taken()).isEqualTo(1);

        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        assertThat(waiting.connection()).isEqualTo(1);
    }

    @Test
    void soItIsIfAllStreamsOfAConnectionAreTaken() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 1;
        FakeUpstream origin = http2(1);
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply waiting = get("/");
        assertThat(check("/").connection()).isEqualTo(2);
        awaitEvent("closed");
        assertThat(waiting.isDone()).isFalse();
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        assertThat(waiting.connection()).isEqualTo(1);
    }

    @Test
    void whatACheckCannotReachItIsToldOfAndNobodyElse() throws Exception {
        settings.maxConnections = 1;
        to("127.0.0.1", closedPort());
        assertFailure(check("/").failure(), Cause.CONNECT_FAILED);
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        assertThat(upstream.connections().taken()).isZero();
        assertThat(upstream.requests().taken()).isZero();
    }

    @Test
    void anEndpointThatLetsACheckWaitIsLetGoOfWithIt() throws Exception {
        settings.protocol = Protocol.H2C; // whose endpoint speaks first
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            to("127.0.0.1", silent.getLocalPort());
            Reply check = check("/");
            try (Socket connection = silent.accept()) {
                connection.setSoTimeout(10_000);
                assertThat(connection.getInputStream().read()).as("the preface").isEqualTo('P');
                assertThat(upstream.connections().taken()).isEqualTo(1);
                check.cancel();
                connection.getInputStream().readAllBytes(); // until it is closed
            }
            assertThat(counted()).isEqualTo(PoolCounts.NONE);
            assertThat(check.isDone()).isFalse();
        }
    }

    private void awaitDirect(long bytes) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        long held = -1;
        while (held != bytes && System.nanoTime() < deadline) {
            held = transport.loops().get(0).submit(() -> direct.get(0).held()).get(10, TimeUnit.SECONDS);
        }
        assertThat(held).isEqualTo(bytes);
    }

    @Test
    void aPartOfARecordOfTlsIsChargedUntilTheConnectionEnds() throws Exception {
        settings.tls = tls(true, "localhost", null);
        try (ServerSocket slow = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            to("127.0.0.1", slow.getLocalPort());
            Reply check = check("/");
            try (Socket connection = slow.accept()) {
                connection
                        .getOutputStream()
                        .write(new byte[] {22, 3, 3, 0x10, 0, 2}); // of 4096 bytes, and the first one
                awaitDirect(5 + 4096);
                check.cancel();
                awaitDirect(0);
            }
        }
    }
}
