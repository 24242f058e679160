package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.stream.Cause;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections to upstreams while the process has no file descriptor left for them. */
class DialRoomTest extends PoolFixture {
    private final DescriptorShare share = transport.descriptors().upstreams();
    private int taken;

    /** Takes what is left, as other connections would. */
    private void takeAll() {
        while (!share.isFull()) {
            share.take();
            taken++;
        }
    }

    private void giveBackOne() {
        taken--;
        share.release();
    }

    @AfterEach
    void giveBack() {
        while (taken > 0) {
            giveBackOne();
        }
    }

    @Test
    void aNewConnectionWaitsUntilAnotherEnds() throws Exception {
        to(http1());
        takeAll();
        Reply first = get(0, "/");
        Reply second = get(1, "/");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 2, 2));
        giveBackOne();
        // Both loops hear of it. Whoever is slower waits until the other's connection is idle, or exceeds the share by
        // one.
        assertThat(first.connection() + second.connection()).isEqualTo(1 + 2);
        assertThat(share.isAwaited()).isFalse();
    }

    /**
     * One loop is too busy to hear of a descriptor before another has taken it, and has made a connection that is idle by
     * then. It kept that, as nobody seemed to wait.
     */
    @Test
    void whoHearsTooLateGetsWhatAnotherLoopHasIdleByThen() throws Exception {
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
            to("127.0.0.1", server.getLocalPort());
            takeAll();
            Reply first = get(0, "/");
            Reply second = get(1, "/");
            assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 2, 2));
            transport.loops().get(1).execute(goOn::join);
            giveBackOne();
            try (Socket one = server.accept()) {
                answer(one);
                assertThat(first.connection()).isZero();
                transport.loops().get(0).submit(() -> {}).sync(); // and its connection is idle
                goOn.complete(null);
                server.setSoTimeout(20_000);
                try (Socket other = server.accept()) {
                    answer(other);
                    assertThat(second.connection()).isZero();
                }
            }
            awaitEvent("closed");
        } finally {
            goOn.complete(null);
        }
    }

    private static void answer(Socket request) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) request.getInputStream().read());
        }
        request.getOutputStream()
                .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void anIdleConnectionOfAnotherEventLoopIsClosedForIt() throws Exception {
        to(http1());
        assertThat(get(0, "/").connection()).isEqualTo(1);
        takeAll();
        assertThat(get(1, "/").connection()).isEqualTo(2);
        awaitEvent("closed");
    }

    @Test
    void aConnectionThatBecomesIdleIsClosedForAnotherEndpoint() throws Exception {
        FakeUpstream busy = http1();
        FakeUpstream other = http1();
        List<Endpoint> endpoints =
                List.of(new Endpoint(0, "127.0.0.1", busy.port(), 1), new Endpoint(1, "127.0.0.1", other.port(), 1));
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        Reply held = getFrom(endpoints.get(0), "/hold");
        Runnable answer = heldBy(busy);
        takeAll();
        Reply waiting = getFrom(endpoints.get(1), "/");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 1, 1));
        answer.run();
        assertThat(held.connection()).isEqualTo(1);
        assertThat(waiting.connection()).isEqualTo(1);
        awaitEvent("closed");
    }

    /** Its time is short, and running out of it would be held against the endpoint. */
    @Test
    void aCheckDoesNotWait() throws Exception {
        to(http1());
        takeAll();
        assertFailure(check("/").failure(), Cause.OVERLOAD);
    }

    @Test
    void theWaitEndsInOverloadAndBlamesNoEndpoint() throws Exception {
        settings.maxConnections = 10;
        to(http1());
        takeAll();
        Reply reply = get("/");
        assertThat(counted().pending()).isEqualTo(1);
        ahead.addAndGet(
                TimeUnit.MILLISECONDS.toNanos(settings.connectMillis / 2)); // as long as patience with an endpoint
        assertThat(counted().pending()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(settings.connectMillis));
        assertFailure(reply.failure(), Cause.OVERLOAD);
        assertThat(upstream.hosts().get(0).isUnreached()).isFalse();
        giveBackOne();
        assertThat(get("/").connection()).isEqualTo(1);
    }
}
