package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client that closes its connection while it waits for a response has given up; one that has only finished has not. */
@Tag("jar")
@Timeout(120)
@Tag("platform")
class ClientGivesUpIT {
    private static final String GET = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch answers = new CountDownLatch(1);
    private final CompletableFuture<Integer> ended = new CompletableFuture<>();

    /** An origin whose slow answers come when the test says so, and which sees when nobody waits for them any more. */
    private Origin origin() throws IOException {
        return Origin.start()
                .on("/", Behaviors.text("ok"))
                .on("/late", (stream, head) -> {
                    stream.receiveBody();
                    arrived.countDown();
                    answers.await();
                    Behaviors.text("late").serve(stream, head);
                })
                .on("/slow", (stream, head) -> {
                    stream.receiveBody();
                    arrived.countDown();
                    if (stream instanceof Http2Stream http2) {
                        ended.complete(http2.awaitReset());
                    } else {
                        stream.peer().awaitClosed();
                        ended.complete(0);
                    }
                });
    }

    private static GatewayJar gateway(Origin origin, String upstream, String listener) throws IOException {
        return GatewayJar.of(
                        """
                        listeners:
                          - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP%2$s}
                          - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}%2$s}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %1$d}], %3$s}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(origin.port(), listener, upstream))
                .start();
    }

    private static Peer connect(GatewayJar gateway, Peers client) throws IOException {
        return client.connect(gateway.port(client.isTls() ? "secure" : "clear"));
    }

    private static void awaitLogged(GatewayJar gateway, String... parts) throws IOException {
        gateway.await("an access log of " + String.join(", ", parts), () -> {
            try {
                assertThat(Files.readString(gateway.directory().resolve("access.log")))
                        .contains(parts);
                return true;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (AssertionError e) {
                return false;
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"HTTP1, http1", "HTTP1, h2c", "HTTP1_TLS, http1", "HTTP1_TLS, h2c"})
    void theRequestEndsUpstreamToo(Peers client, String upstream) throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = gateway(origin, "protocol: " + upstream, "")) {
            try (Peer leaving = connect(gateway, client)) {
                leaving.open().send(Head.request("GET", "/slow"), true);
                assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            }
            awaitLogged(gateway, "\"status\":499", "\"cause\":\"client_closed\"");
            assertThat(gateway.metric("gateway_upstream_requests_active")).isZero();
            // An upstream of HTTP/2 is told by CANCEL, after which one that has vanished is found out.
            assertThat(ended.get(20, TimeUnit.SECONDS)).isEqualTo(upstream.equals("h2c") ? 8 : 0);
        }
    }

    @Test
    void aRequestThatWaitsForAConnectionLeavesTheQueue() throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = gateway(
                        origin,
                        "protocol: http1, circuitBreaker: {maxConnections: 1}, timeouts: {poolAcquire: 1m}",
                        "");
                Peer first = connect(gateway, Peers.HTTP1)) {
            first.open().send(Head.request("GET", "/late"), true);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            try (Peer leaving = connect(gateway, Peers.HTTP1)) {
                leaving.open().send(Head.request("GET", "/"), true);
                awaitPending(gateway, 1);
            }
            awaitPending(gateway, 0);
            awaitLogged(gateway, "\"status\":499");
            answers.countDown();
        }
    }

    private static void awaitPending(GatewayJar gateway, int requests) throws IOException {
        gateway.await(requests + " requests that wait", () -> {
            try {
                return gateway.metric("gateway_upstream_pending_requests") == requests;
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** The process is stopped meanwhile, so that it finds request and FIN together. */
    @Test
    void aFinTogetherWithTheRequestIsAnswered() throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = gateway(origin, "protocol: http1", "");
                Http1Peer client = Http1Peer.connect(gateway.port("clear"))) {
            client.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n"); // so that the connection is accepted
            PeerStream first = client.response("GET");
            assertThat(first.receiveFinal().status()).isEqualTo(200);
            assertThat(first.receiveBody()).isEqualTo("ok");
            gateway.signal("STOP");
            client.raw(GET.replace("/slow", "/") + GET.replace("/slow", "/late"));
            client.halfClose();
            gateway.signal("CONT");
            PeerStream second = client.response("GET");
            assertThat(second.receiveFinal().status()).isEqualTo(200);
            assertThat(second.receiveBody()).isEqualTo("ok");
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            answers.countDown();
            PeerStream third = client.response("GET");
            assertThat(third.receiveFinal().status()).isEqualTo(200);
            assertThat(third.receiveBody()).isEqualTo("late");
            assertThat(client.isAtEnd()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"http1", "h2c"})
    void whereHalfClosingIsAllowedALaterFinIsAnsweredToo(String upstream) throws Exception {
        try (Origin origin = origin();
                GatewayJar gateway = gateway(origin, "protocol: " + upstream, ", halfClose: allow");
                Http1Peer client = Http1Peer.connect(gateway.port("clear"))) {
            client.raw(GET.replace("/slow", "/late"));
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            client.halfClose();
            try (Peer other = connect(gateway, Peers.HTTP1)) { // whose request comes after the FIN
                PeerStream stream = other.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
            }
            answers.countDown();
            PeerStream stream = client.response("GET");
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("late");
        }
    }
}
