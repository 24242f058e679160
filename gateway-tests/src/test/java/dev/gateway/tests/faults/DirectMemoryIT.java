package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.BulkOrigin;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Hoarders;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients that stall cannot use up the memory that buffers take: meanwhile another client and the operator are served, no
 * event loop waits for the garbage collector, and the memory comes back.
 */
@Tag("alone")
@Tag("jar")
@Timeout(120)
@Tag("platform")
class DirectMemoryIT {
    /** Long for one small request on a busy machine, and much less than event loops that sleep take. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final int ROUNDS = 20;

    /** What two event loops keep when nothing is done. */
    private static final int IDLE = 9 << 20;

    private static final int MUCH = 40 << 20;

    private final HttpClient neighbor = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    private BulkOrigin origin;
    private GatewayJar gateway;
    private Hoarders hoarders;

    @BeforeEach
    void startOrigin() throws IOException {
        origin = BulkOrigin.start();
    }

    @AfterEach
    void stop() throws IOException {
        if (hoarders != null) {
            hoarders.close();
        }
        if (gateway != null) {
            gateway.close();
        }
        origin.close();
    }

    private void start(String heap, String... options) throws IOException {
        GatewayJar.Builder builder = GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            endpoints: [{host: 127.0.0.1, port: %d}]
                            circuitBreaker: {maxConnections: 5000, maxRequests: 5000, maxPendingRequests: 5000}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port()))
                .heap(heap);
        for (String option : options) {
            builder.jvm(option);
        }
        gateway = builder.start();
        hoarders = new Hoarders(gateway.port("web"));
    }

    @Test
    void oneConnectionOfTwoHundredStalledStreams() throws Exception {
        start("24m");
        hoarders.streams(200, "/bulk", 64 * 1024);
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    @Test
    void streamsThatMayNotSendAnything() throws Exception {
        start("48m");
        for (int i = 0; i < 4; i++) {
            hoarders.streams(100, "/bulk", 0);
        }
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    /** Each response ends for the upstream before the client takes any of it. */
    @Test
    void wholeResponsesThatWaitForWindows() throws Exception {
        start("48m", "-XX:MaxDirectMemorySize=16m");
        for (int i = 0; i < 4; i++) {
            hoarders.streams(100, "/part", 0);
        }
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    @Test
    void clientsThatReadNothing() throws Exception {
        start("24m");
        hoarders.requestsUnread(200, "/bulk");
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    /** Each holds next to nothing then. */
    @Test
    void clientsThatReadNothingWhereThereIsHardlyAnyMemory() throws Exception {
        start("48m", "-XX:MaxDirectMemorySize=8m");
        hoarders.requestsUnread(150, "/bulk");
        othersAreServed();
        assertThat(gateway.metric("gateway_direct_memory_pauses_total")).isPositive();
        memoryComesBack();
    }

    @Test
    void slowReaders() throws Exception {
        start("48m");
        hoarders.requestsUnread(300, "/bulk");
        for (int i = 0; i < ROUNDS; i++) {
            hoarders.sip(1024);
            oneMoreIsServed();
        }
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    @Test
    void uploadsThatNobodyTakes() throws Exception {
        start("24m");
        hoarders.uploads(200, "/sink");
        for (int i = 0; i < ROUNDS; i++) {
            hoarders.push();
            oneMoreIsServed();
        }
        othersAreServed();
        nobodyWasDenied();
        memoryComesBack();
    }

    /** Where the JVM can have the C library trimmed, which all that this is built with can. */
    @Test
    void theSystemGetsBackWhatAnAttackHasTaken() throws Exception {
        start("256m");
        hoarders.requestsUnread(300, "/bulk");
        gateway.await("much memory in use", () -> metric("gateway_direct_memory_used_bytes") >= MUCH);
        othersAreServed();
        long most = gateway.residentKiB();
        hoarders.close();
        gateway.await("the end of all requests", () -> metric("gateway_downstream_requests_active") == 0);
        gateway.await("less that is resident", () -> residentKiB() < most - MUCH / 2 / 1024);
        othersAreServed();
    }

    private long residentKiB() {
        try {
            return gateway.residentKiB();
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    private void othersAreServed() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            oneMoreIsServed();
        }
        assertThat(gateway.admin("/metrics", PATIENCE).statusCode()).isEqualTo(200);
        assertThat(gateway.isAlive()).as(gateway.log()).isTrue();
    }

    private void nobodyWasDenied() {
        assertThat(gateway.log()).doesNotContain("OutOfMemoryError").doesNotContain("OutOfDirectMemoryError");
        assertThat(metric("gateway_direct_memory_failures_total")).isZero();
    }

    private void oneMoreIsServed() throws IOException, InterruptedException {
        HttpResponse<String> answer = neighbor.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port("web") + "/small"))
                        .timeout(PATIENCE)
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(gateway.admin("/healthz", PATIENCE).statusCode()).isEqualTo(200);
    }

    private void memoryComesBack() throws Exception {
        hoarders.close();
        origin.close(); // which ends what uploads nobody takes
        gateway.await("the end of all requests", () -> metric("gateway_downstream_requests_active") == 0);
        // Loops keep some ready, as long as there is plenty.
        double most = Math.max(IDLE, metric("gateway_direct_memory_max_bytes") / 4);
        gateway.await("the memory back", () -> metric("gateway_direct_memory_used_bytes") <= most);
    }

    private double metric(String name) {
        try {
            return gateway.metric(name);
        } catch (IOException | InterruptedException e) {
            return Double.MAX_VALUE;
        }
    }
}
