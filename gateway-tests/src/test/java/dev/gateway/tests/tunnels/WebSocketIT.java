package dev.gateway.tests.tunnels;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.peer.WebSocket.Frame;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** WebSockets pass byte for byte, whatever is spoken on either side. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
@Tag("platform")
class WebSocketIT {
    @TempDir
    Path directory;

    private static Origin origin() throws IOException {
        return Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1).on("/echo", WebSocket::echo);
    }

    static List<Arguments> ways() {
        List<Arguments> ways = new ArrayList<>();
        for (Peers client : Peers.values()) {
            for (String upstream : List.of("http1", "h2c")) {
                ways.add(Arguments.of(client, upstream));
            }
        }
        return ways;
    }

    private static Rig rig(Origin origin, String upstream) throws IOException {
        return Rig.to(origin.port()).upstreamProtocol(upstream).start();
    }

    /** Else its client would think that a tunnel is open, and the gateway would keep the connection. */
    @ParameterizedTest
    @EnumSource
    void aFilterThatAnswersOpensNoTunnel(Peers client) throws Exception {
        String yaml =
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}}
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]}]
                admin: {address: 127.0.0.1, port: 0}
                """;
        try (Rig rig = Rig.start(yaml);
                Peer peer = rig.connect(client)) {
            PeerStream stream = peer.open();
            Head answer = Handshake.ask(stream, "/echo");
            boolean http1 = client == Peers.HTTP1 || client == Peers.HTTP1_TLS;
            assertThat(answer.status()).isEqualTo(http1 ? 200 : 501);
            assertThat(stream.receiveBody()).asString().contains(http1 ? "hello" : "no_route");
            PeerStream next = peer.open();
            next.send(Head.request("GET", "/"), true);
            assertThat(next.receiveFinal().status()).isEqualTo(200);
            assertThat(next.receiveBody()).isEqualTo("hello");
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void messagesFragmentsAndControlFramesPassBothWays(Peers client, String upstream) throws Exception {
        try (Origin origin = origin();
                Rig rig = rig(origin, upstream);
                Peer peer = rig.connect(client)) {
            WebSocket socket = new WebSocket(Handshake.open(peer, "/echo"), true);
            socket.text("hello");
            assertThat(socket.receive().text()).isEqualTo("hello");
            socket.send(WebSocket.TEXT, false, "frag".getBytes(UTF_8));
            socket.send(WebSocket.PING, true, "between".getBytes(UTF_8));
            socket.send(WebSocket.CONTINUATION, true, "ments".getBytes(UTF_8));
            assertThat(socket.receive()).satisfies(frame -> {
                assertThat(frame.fin()).isFalse();
                assertThat(frame.text()).isEqualTo("frag");
            });
            assertThat(socket.receive()).satisfies(frame -> {
                assertThat(frame.opcode()).isEqualTo(WebSocket.PONG);
                assertThat(frame.text()).isEqualTo("between");
            });
            assertThat(socket.receive()).satisfies(frame -> {
                assertThat(frame.opcode()).isEqualTo(WebSocket.CONTINUATION);
                assertThat(frame.fin()).isTrue();
                assertThat(frame.text()).isEqualTo("ments");
            });
            socket.close(4321);
            Frame closed = socket.receive();
            assertThat(closed.opcode()).isEqualTo(WebSocket.CLOSE);
            assertThat(closed.code()).isEqualTo(4321);
            socket.end();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aMessageOf16MiBArrivesAsItWasSent(Peers client, String upstream) throws Exception {
        byte[] message = new byte[16 << 20];
        new Random(16).nextBytes(message);
        try (Origin origin = origin();
                Rig rig = rig(origin, upstream);
                Peer peer = rig.connect(client)) {
            WebSocket socket = new WebSocket(Handshake.open(peer, "/echo"), true);
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    socket.send(WebSocket.BINARY, true, message);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(socket.receive().payload()).isEqualTo(message);
            sent.get();
            socket.close(1000);
            socket.receive();
            socket.end();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatClientAndServerAgreeOnIsTheirs(Pairing pairing) throws Exception {
        try (Origin origin = origin().on("/agreed", (stream, head) -> {
                    Handshake.accept(
                            stream,
                            head,
                            "Sec-WebSocket-Protocol",
                            "chat.v2",
                            "Sec-WebSocket-Extensions",
                            "permessage-deflate; server_no_context_takeover",
                            "X-Node",
                            "7");
                    stream.receiveBody();
                    stream.send("", true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            PeerStream stream = peer.open();
            Head answer = Handshake.ask(
                    stream,
                    "/agreed?room=1",
                    "Sec-WebSocket-Protocol",
                    "chat.v1, chat.v2",
                    "Sec-WebSocket-Extensions",
                    "permessage-deflate",
                    "Origin",
                    "https://page.test",
                    "Cookie",
                    "id=1");
            assertThat(answer.status()).isLessThan(300);
            assertThat(answer.all("Sec-WebSocket-Protocol")).containsExactly("chat.v2");
            assertThat(answer.all("Sec-WebSocket-Extensions"))
                    .containsExactly("permessage-deflate; server_no_context_takeover");
            assertThat(answer.all("X-Node")).containsExactly("7");
            Head seen = origin.requests("/agreed").get(0);
            assertThat(seen.target()).isEqualTo("/agreed?room=1");
            assertThat(seen.all("Sec-WebSocket-Protocol")).containsExactly("chat.v1, chat.v2");
            assertThat(seen.all("Sec-WebSocket-Extensions")).containsExactly("permessage-deflate");
            assertThat(seen.all("Sec-WebSocket-Version")).containsExactly("13");
            assertThat(seen.all("Origin")).containsExactly("https://page.test");
            assertThat(seen.all("Cookie")).containsExactly("id=1");
            stream.send("", true);
            assertThat(stream.receive(new byte[1])).isNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRefusalIsRelayedAndTheConnectionsAreKept(Pairing pairing) throws Exception {
        try (Origin origin = origin().on("/closed", (stream, head) -> {
                    stream.send(Head.response(426, "Sec-WebSocket-Version", "13", "Content-Length", "7"), false);
                    stream.send("not 13.", true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            for (int i = 0; i < 3; i++) {
                PeerStream refused = peer.open();
                Head answer = Handshake.ask(refused, "/closed");
                assertThat(answer.status()).isEqualTo(426);
                assertThat(answer.all("Sec-WebSocket-Version")).containsExactly("13");
                assertThat(refused.receiveBody()).isEqualTo("not 13.");
                if (refused.peer() instanceof Http1Peer) {
                    rig.awaitIdle(); // an HTTP/1 response may reach the client before the upstream's connection is back
                }
            }
            assertThat(origin.connections()).isEqualTo(1);
            WebSocket socket = new WebSocket(Handshake.open(peer, "/echo"), true);
            socket.text("after all");
            assertThat(socket.receive().text()).isEqualTo("after all");
            socket.close(1000);
            socket.receive();
            socket.end();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void anUpstreamThatKnowsNoUpgradeHasAnsweredARequestOfHttp1(Pairing pairing) throws Exception {
        try (Origin origin = origin().on("/page", (stream, head) -> {
                    stream.send(Head.response(200, "Content-Length", "4"), false);
                    stream.send("page", true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            PeerStream stream = peer.open();
            Head answer = Handshake.ask(stream, "/page");
            if (pairing.client == Peers.HTTP1) {
                assertThat(answer.status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("page");
            } else {
                assertThat(answer.status()).isEqualTo(502); // 200 would say that there is a WebSocket
                assertThat(rig.awaitAccessLog(1).get(0)).contains("upstream_protocol_error");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void anUpstreamThatHasNotReadTheKeyIsNotBelieved(Pairing pairing) throws Exception {
        try (Origin origin = origin().on("/wrong", (stream, head) -> {
                    ((Http1Peer) stream.peer())
                            .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
                    stream.peer().awaitClosed();
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            assertThat(Handshake.ask(peer.open(), "/wrong").status()).isEqualTo(502);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("upstream_protocol_error");
        }
    }

    @ParameterizedTest
    @EnumSource(Peers.class)
    void anUpstreamWhoseHttp2OffersNoneIsAskedByHttp1(Peers client) throws Exception {
        try (Origin origin = Origin.startTls().on("/echo", WebSocket::echo).on("/", Behaviors.text("page"))) {
            Path ca = origin.writeCertificate(directory.resolve("ca.pem"));
            try (Rig rig = Rig.to("localhost", origin.port())
                            .upstreamProtocol("auto")
                            .upstream("tls: {caFile: " + ca + "}")
                            .start();
                    Peer peer = rig.connect(client)) {
                for (int i = 0; i < 2; i++) {
                    PeerStream page = rig.connect(client).open();
                    page.send(Head.request("GET", "/"), true);
                    assertThat(page.receiveFinal().status()).isEqualTo(200);
                    assertThat(page.receiveBody()).isEqualTo("page");
                    page.peer().close();
                    if (i == 0) {
                        WebSocket socket = new WebSocket(Handshake.open(peer, "/echo"), true);
                        socket.text("hello");
                        assertThat(socket.receive().text()).isEqualTo("hello");
                        socket.close(1000);
                        socket.receive();
                        socket.end();
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void severalLiveSideBySide(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.to(origin, pairing).start()) {
            List<Peer> peers = new ArrayList<>();
            List<WebSocket> sockets = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                if (!pairing.client.isHttp2() || i == 0) {
                    peers.add(rig.connect(pairing));
                }
                sockets.add(new WebSocket(Handshake.open(peers.get(peers.size() - 1), "/echo"), true));
            }
            for (int i = 0; i < 20; i++) {
                sockets.get(i).text("to " + i);
            }
            for (int i = 19; i >= 0; i--) {
                assertThat(sockets.get(i).receive().text()).isEqualTo("to " + i);
            }
            for (WebSocket socket : sockets) {
                socket.close(1001);
                assertThat(socket.receive().code()).isEqualTo(1001);
                socket.end();
            }
            for (Peer peer : peers) {
                peer.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatFailsFailsTheWebSocket(Pairing pairing) throws Exception {
        try (Origin origin = origin().on("/fails", (stream, head) -> {
                    Handshake.accept(stream, head);
                    WebSocket socket = new WebSocket(stream, false);
                    socket.receive();
                    stream.reset();
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            PeerStream stream = Handshake.open(peer, "/fails");
            WebSocket socket = new WebSocket(stream, true);
            socket.text("x");
            if (pairing.client.isHttp2()) {
                assertThatThrownBy(socket::receive).isInstanceOf(StreamResetException.class);
            } else {
                assertThatThrownBy(socket::receive).hasMessageContaining("reset");
            }
            assertThat(rig.awaitAccessLog(2).get(1)).contains("upstream_reset_in_body"); // after the tunnel's opening
        }
    }
}
