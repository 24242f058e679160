package dev.gateway.tests.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The scripted peers understand each other, so that a failing test accuses the gateway. */
class PeersTest {
    @ParameterizedTest
    @EnumSource
    void clientsAndOriginsUnderstandEachOther(Peers protocol) throws Exception {
        try (Origin origin = start(protocol).on("/echo", Behaviors.echo()).on("/hi", Behaviors.text("hello"));
                Peer client = protocol.connect(origin.port())) {
            for (int i = 0; i < 2; i++) {
                PeerStream get = client.open();
                get.send(Head.request("GET", "/hi"), true);
                assertThat(get.receiveHead().status()).isEqualTo(200);
                assertThat(get.receiveBody()).isEqualTo("hello");
            }
            byte[] sent = new byte[300_000];
            new Random(1).nextBytes(sent);
            PeerStream post = client.open();
            Thread sender = new Thread(() -> {
                try {
                    post.send(Head.request("POST", "/echo", "x-name", "value"), false);
                    post.send(sent, false);
                    post.sendTrailers("x-sum", "42");
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            sender.start();
            post.receiveHead();
            assertThat(post.receiveBody()).isEqualTo(new String(sent, StandardCharsets.ISO_8859_1));
            assertThat(post.trailer("x-sum")).containsExactly("42");
            sender.join();
            assertThat(origin.requests("/echo").get(0).get("x-name")).contains("value");
            assertThat(origin.connections()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void resetsAreSeen(Peers protocol) throws Exception {
        try (Origin origin =
                        start(protocol).on("/head", Behaviors.resetBeforeHead()).on("/body", Behaviors.resetInBody());
                Peer client = protocol.connect(origin.port())) {
            if (protocol.isHttp2()) {
                PeerStream first = client.open();
                first.send(Head.request("GET", "/head"), true);
                assertThatThrownBy(first::receiveHead).isInstanceOf(StreamResetException.class);
            }
            PeerStream second = client.open();
            second.send(Head.request("GET", "/body"), true);
            assertThat(second.receiveHead().status()).isEqualTo(200);
            assertThatThrownBy(second::receiveBody).isInstanceOf(IOException.class);
        }
    }

    @Test
    void whatIsSentBeforeAnAbortArrivesBehindManySegments() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = Sockets.connect(server.getLocalPort());
                Socket accepted = server.accept()) {
            Sockets.configure(accepted);
            Http1Peer peer = new Http1Peer(accepted, accepted.getInputStream(), false);
            for (int i = 0; i < 200; i++) {
                peer.raw("."); // more than are sent before the other side acknowledges any
            }
            peer.open().sendAndAbort(Head.response(413, "content-length", "8"), "too much");
            StringBuilder received = new StringBuilder();
            assertThatThrownBy(() -> {
                        for (int b = client.getInputStream().read();
                                b >= 0;
                                b = client.getInputStream().read()) {
                            received.append((char) b);
                        }
                    })
                    .isInstanceOf(SocketException.class);
            assertThat(received).startsWith(".".repeat(200) + "HTTP/1.1 413").endsWith("too much");
        }
    }

    @Test
    void openConnectionsAreThoseThatNobodyHasEnded() throws Exception {
        try (Origin origin = Origin.start()
                .on("/", (stream, head) -> stream.sendAndAbort(Head.response(200, "content-length", "2"), "ok"))) {
            try (Http1Peer unused = Http1Peer.connect(origin.port());
                    Http1Peer aborted = Http1Peer.connect(origin.port())) {
                PeerStream stream = aborted.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveHead().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
                aborted.awaitClosed();
                unused.awaitDelivery();
                await(() -> origin.connections() == 2 && origin.openConnections() == 1);
            }
            await(() -> origin.openConnections() == 0);
        }
    }

    @Test
    void whatCameBeforeAnAbortIsReadThoughNothingCanBeAnswered() throws Exception {
        try (Origin origin = Origin.start()
                        .on(
                                "/",
                                (stream, head) ->
                                        stream.sendAndAbort(Head.response(200, "content-length", "2"), "ok"));
                Http2Peer client = Http2Peer.connect(origin.port())) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            synchronized (client) { // so that it answers no frame before the abort has come
                await(() -> !sendsPing(client));
            }
            assertThat(stream.receiveHead().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    private static boolean sendsPing(Http2Peer peer) {
        try {
            peer.frame(Http2Peer.PING, 0, 0, new byte[8]);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static Origin start(Peers protocol) throws IOException {
        return protocol.isTls() ? Origin.startTls() : Origin.start();
    }
}
