package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes wrong is answered with the right status and named by its one cause: to the client and in the log. */
class FailureCauseIT {
    @ParameterizedTest
    @EnumSource
    void aRefusedConnectionIs502(Pairing pairing) throws Exception {
        int port = ClosedPort.number();
        try (Rig rig = Rig.to(port).upstreamProtocol(pairing.upstream).start();
                Peer client = rig.connect(pairing)) {
            assertFailure(rig, get(client, "/"), 502, "connect_failed");
            // The client's connection has done nothing wrong.
            assertThat(get(client, "/").status()).isEqualTo(502);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUnresolvableNameIs502(Pairing pairing) throws Exception {
        try (Rig rig = Rig.to("no-such-host.invalid", 80)
                        .upstreamProtocol(pairing.upstream)
                        .start();
                Peer client = rig.connect(pairing)) {
            assertFailure(rig, get(client, "/"), 502, "dns_failed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void noRouteIs404(Pairing pairing) throws Exception {
        try (Rig rig = Rig.to(1)
                        .upstreamProtocol(pairing.upstream)
                        .rule("matches: [{path: {type: Exact, value: /here}}]")
                        .start();
                Peer client = rig.connect(pairing)) {
            assertFailure(rig, get(client, "/there"), 404, "no_route");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUpstreamThatNeverAnswersIs504(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.silence());
                Rig rig = Rig.to(origin, pairing)
                        .upstream("timeouts: {responseHeaders: 300ms}")
                        .start();
                Peer client = rig.connect(pairing)) {
            assertFailure(rig, get(client, "/"), 504, "upstream_timeout");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatTakesLongerThanItsRouteAllowsIs504(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.silence());
                Rig rig = Rig.to(origin, pairing)
                        .rule("timeouts: {request: 300ms}")
                        .start();
                Peer client = rig.connect(pairing)) {
            Head response = get(client, "/");
            assertThat(response.status()).isEqualTo(504);
            assertThat(rig.awaitAccessLog(1).get(0)).containsAnyOf("upstream_timeout", "max_duration");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAttemptThatTakesTooLongIs504(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.silence());
                Rig rig = Rig.to(origin, pairing)
                        .rule("timeouts: {backendRequest: 300ms}")
                        .start();
                Peer client = rig.connect(pairing)) {
            assertFailure(rig, get(client, "/"), 504, "upstream_timeout");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatStandsStillIsCutOff(Pairing pairing) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    stream.send("some", false);
                    end.await();
                });
                Rig rig = Rig.to(origin, pairing)
                        .rule("timeouts: {streamIdle: 2s}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThatThrownBy(stream::receiveBody)
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("idle_timeout");
            end.countDown();
        }
    }

    @Test
    void aHeadThatComesTooSlowlyIs408() throws Exception {
        try (Origin origin = Origin.start();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {requestHeaders: 300ms}")
                        .start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
            assertThat(client.readToEnd()).startsWith("HTTP/1.1 408 ").contains("client_timeout");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestBodyThatStandsStillIs408(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("never"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("timeouts: {requestBodyIdle: 300ms}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "10"), false);
            stream.send("some", false);
            assertFailure(rig, stream.receiveFinal(), 408, "client_timeout");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void waitingTooLongForAConnectionIs503(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    goOn.await();
                    Behaviors.text("late").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing)
                        .upstream("circuitBreaker: {maxConnections: 1}, timeouts: {poolAcquire: 300ms}")
                        .start();
                Peer first = rig.connect(pairing);
                Peer second = rig.connect(pairing)) {
            PeerStream holds = first.open();
            holds.send(Head.request("GET", "/"), true);
            arrived.await();
            assertFailure(rig, get(second, "/"), 503, "pending_timeout");
            goOn.countDown();
            assertThat(holds.receiveFinal().status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void aMalformedResponseIs502(Pairing pairing) throws Exception {
        String[] malformed = {
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        };
        for (String text : malformed) {
            try (Origin origin = Origin.start().on("/", (stream, head) -> {
                        ((Http1Peer) stream.peer()).raw(text);
                        stream.peer().close();
                    });
                    Rig rig = Rig.to(origin, pairing).start();
                    Peer client = rig.connect(pairing)) {
                assertFailure(rig, get(client, "/"), 502, "upstream_protocol_error");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResetBeforeTheResponseIs502(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.resetBeforeHead());
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "0"), true);
            assertFailure(rig, stream.receiveFinal(), 502, "upstream_reset_before_headers");
        }
    }

    private static void assertFailure(Rig rig, Head response, int status, String cause) throws Exception {
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.get("proxy-status").orElse("")).contains(cause);
        assertThat(rig.awaitAccessLog(1)).anyMatch(line -> line.contains("\"" + cause + "\""));
    }

    private static Head get(Peer client, String path) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head;
    }
}
