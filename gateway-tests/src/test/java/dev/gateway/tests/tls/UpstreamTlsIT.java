package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS to upstreams: what is spoken is agreed, and who answers is verified. */
@Tag("platform")
class UpstreamTlsIT {
    private static final int HTTP_1_1_REQUIRED = 13;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "HTTP1_TLS, http1, true, false",
        "HTTP1_TLS, h2, true, true",
        "HTTP1_TLS, auto, true, true",
        "H2_TLS, http1, true, false",
        "H2_TLS, h2, true, true",
        "H2_TLS, auto, true, true",
        "H2_TLS, auto, false, false",
        "HTTP1_TLS, auto, false, false",
        "HTTP1, h2, true, true",
        "H2C, auto, true, true",
    })
    void theUpstreamProtocolIsAgreed(Peers downstream, String protocol, boolean offersH2, boolean becomesH2)
            throws Exception {
        try (Origin origin = offersH2 ? Origin.startTls() : Origin.startTls("http/1.1")) {
            origin.on("/", Behaviors.echo());
            Path ca = origin.writeCertificate(directory.resolve("ca.pem"));
            try (Rig rig = Rig.to("localhost", origin.port())
                            .upstreamProtocol(protocol)
                            .upstream("tls: {caFile: " + ca + "}")
                            .start();
                    Peer client = rig.connect(downstream)) {
                for (int i = 0; i < 3; i++) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("POST", "/"), false);
                    String body = "x".repeat(100_000);
                    stream.send(body, true);
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo(body);
                }
                assertThat(origin.connections()).isEqualTo(1);
                assertThat(origin.peers().get(0) instanceof Http2Peer).isEqualTo(becomesH2);
                Head head = origin.requests("/").get(0);
                assertThat(head.get("x-forwarded-proto")).contains(downstream.isTls() ? "https" : "http");
                if (becomesH2) {
                    assertThat(head.get(":scheme")).contains("https");
                }
            }
        }
    }

    /** Servers such as Kestrel refuse a scheme that is not that of their connection. */
    @ParameterizedTest
    @EnumSource(names = {"HTTP1_TLS", "H2_TLS", "HTTP1"})
    void anUpstreamInCleartextIsToldItsOwnSchemeAndTheClients(Peers downstream) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = Rig.to(origin.port()).upstreamProtocol("h2c").start();
                Peer client = rig.connect(downstream)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            Head head = origin.requests("/").get(0);
            assertThat(head.get(":scheme")).contains("http");
            assertThat(head.get("x-forwarded-proto")).contains(downstream.isTls() ? "https" : "http");
        }
    }

    /** One upstream with several virtual hosts, as Apache has them since 2.4.64: each is asked for by its own name. */
    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2"})
    void theServerNameMayBeThatOfTheRequest(String protocol) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        try (Origin origin =
                        Origin.startTls(authority.issue("a.test", "b.test")).on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin.port())
                        .upstreamProtocol(protocol)
                        .upstream("tls: {caFile: " + authority.file() + ", serverName: '{host}'}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            for (String host : List.of("a.test", "B.test:8080", "a.test", "b.test.")) {
                assertThat(status(client, host)).as(host).isEqualTo(200);
            }
            assertThat(origin.connections()).as("one for each name").isEqualTo(2);
            for (int i = 0; i < 6; i++) {
                assertThat(status(client, "other.test")).isEqualTo(502);
            }
            assertThat(rig.awaitAccessLog(5).get(4)).contains("\"cause\":\"tls_failed\"", "server name other.test");
            assertThat(status(client, "127.0.0.1")).isEqualTo(502);
            assertThat(status(client, "a.test"))
                    .as("the endpoint is not ejected")
                    .isEqualTo(200);
        }
    }

    private static int status(Peer client, String host) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "host", host), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    /** The failure says which key of the upstream would help. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "h2c | HTTP/1.1 400 Bad Request | upstream_protocol_error | protocol: http1",
                "h2c | TLS | upstream_protocol_error | protocol: h2",
                "http1 | SETTINGS | upstream_protocol_error | protocol: h2c",
                "http1 | TLS | upstream_protocol_error | may need 'tls'",
                "h2 | HTTP/1.1 400 Bad Request | tls_failed | may need no 'tls'",
            })
    void anAnswerInAnotherProtocolIsNamed(String protocol, String answer, String cause, String hint) throws Exception {
        byte[] bytes =
                switch (answer) {
                    case "TLS" -> new byte[] {21, 3, 3, 0, 2, 2, 70};
                    case "SETTINGS" -> new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0};
                    default -> (answer + "\r\nContent-Length: 0\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
                };
        ExecutorService threads = Executors.newCachedThreadPool();
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            threads.submit(() -> {
                while (true) {
                    Socket accepted = server.accept();
                    threads.submit(() -> {
                        try (accepted) {
                            accepted.getInputStream().read();
                            accepted.getOutputStream().write(bytes);
                            return accepted.getInputStream().read(new byte[10_000]);
                        }
                    });
                }
            });
            Rig.Builder builder = Rig.to(server.getLocalPort()).upstreamProtocol(protocol);
            try (Rig rig = (protocol.equals("h2") ? builder.upstream("tls: {}") : builder).start();
                    Peer client = rig.connect(Peers.HTTP1)) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                Head response = stream.receiveFinal();
                assertThat(response.status()).isEqualTo(502);
                assertThat(response.get("proxy-status").orElseThrow()).contains(cause);
                assertThat(rig.awaitAccessLog(1).get(0)).contains(hint);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** As Apache does where a path asks for a client certificate. A POST has not been processed, and goes there again. */
    @Test
    void anUpstreamThatRequiresHttp1GetsIt() throws Exception {
        try (Origin origin = Origin.startTls().on("/", (stream, head) -> {
            if (stream instanceof Http2Stream h2) {
                h2.reset(HTTP_1_1_REQUIRED);
            } else {
                Behaviors.echo().serve(stream, head);
            }
        })) {
            Path ca = origin.writeCertificate(directory.resolve("ca.pem"));
            try (Rig rig = Rig.to("localhost", origin.port())
                            .upstreamProtocol("auto")
                            .upstream("tls: {caFile: " + ca + "}")
                            .start();
                    Peer client = rig.connect(Peers.HTTP1)) {
                for (int i = 0; i < 3; i++) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("POST", "/"), false);
                    stream.send("hello", true);
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo("hello");
                }
                assertThat(origin.connections()).as("one of each protocol").isEqualTo(2);
            }
        }
    }

    /** One stream is refused (RST_STREAM), not the connection: what else runs on it ends well. */
    @Test
    void whatRunsOverHttp2GoesOnWhenAnotherStreamRequiresHttp1() throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch refused = new CountDownLatch(1);
        try (Origin origin = Origin.startTls()
                .on("/", (stream, head) -> {
                    if (stream instanceof Http2Stream h2) {
                        h2.reset(HTTP_1_1_REQUIRED);
                    } else {
                        Behaviors.echo().serve(stream, head);
                    }
                })
                .on("/slow", (stream, head) -> {
                    assertThat(stream).isInstanceOf(Http2Stream.class);
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    stream.send("first ", false);
                    runs.countDown();
                    refused.await();
                    stream.send("last", true);
                })) {
            Path ca = origin.writeCertificate(directory.resolve("ca.pem"));
            try (Rig rig = Rig.to("localhost", origin.port())
                            .top("workers: 1")
                            .upstreamProtocol("auto")
                            .upstream("tls: {caFile: " + ca + "}")
                            .start();
                    Peer slow = rig.connect(Peers.HTTP1);
                    Peer client = rig.connect(Peers.HTTP1)) {
                PeerStream running = slow.open();
                running.send(Head.request("GET", "/slow"), true);
                runs.await();
                for (int i = 0; i < 3; i++) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("POST", "/"), false);
                    stream.send("hello", true);
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo("hello");
                }
                refused.countDown();
                assertThat(running.receiveFinal().status()).isEqualTo(200);
                assertThat(running.receiveBody()).isEqualTo("first last");
                assertThat(origin.connections()).as("one of each protocol").isEqualTo(2);
                assertThat(origin.requests("/"))
                        .as("one by HTTP/2, and three by HTTP/1.1")
                        .hasSize(4);
            }
        } finally {
            refused.countDown();
        }
    }

    @Test
    void anUpstreamThatRequiresHttp1WhereTheProtocolIsFixedIsToldOf() throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> ((Http2Stream) stream).reset(HTTP_1_1_REQUIRED));
                Rig rig = Rig.to(origin.port()).upstreamProtocol("h2c").start();
                Peer client = rig.connect(Peers.HTTP1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(502);
            assertThat(response.get("proxy-status").orElseThrow()).contains("upstream_protocol_error");
            assertThat(rig.awaitAccessLog(1).get(0)).contains("HTTP_1_1_REQUIRED");
            assertThat(origin.requests("/")).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2", "auto"})
    void anUpstreamThatNobodyVouchesForGetsNoRequest(String protocol) throws Exception {
        try (Origin origin = Origin.startTls().on("/", Behaviors.text("secret"));
                Rig rig = Rig.to("localhost", origin.port())
                        .upstreamProtocol(protocol)
                        .upstream("tls: {}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(502);
            assertThat(response.get("proxy-status").orElseThrow()).contains("tls_failed");
            assertThat(origin.requests("/")).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2", "auto"})
    void anotherNamesCertificateIsNotAccepted(String protocol) throws Exception {
        try (Origin origin = Origin.startTls().on("/", Behaviors.text("secret"))) {
            Path ca = origin.writeCertificate(directory.resolve("ca.pem"));
            try (Rig rig = Rig.to("localhost", origin.port())
                            .upstreamProtocol(protocol)
                            .upstream("tls: {caFile: " + ca + ", serverName: other.test}")
                            .start();
                    Peer client = rig.connect(Peers.HTTP1)) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(502);
                assertThat(origin.requests("/")).isEmpty();
            }
        }
    }

    enum Faulty {
        EXPIRED("its certificate has expired: NotAfter: ") {
            @Override
            CertificateAuthority.Issued issue(CertificateAuthority authority) throws Exception {
                return authority.issueExpired("localhost");
            }
        },
        NOT_YET_VALID("its certificate is not valid yet: NotBefore: ") {
            @Override
            CertificateAuthority.Issued issue(CertificateAuthority authority) throws Exception {
                return authority.issueNotYetValid("localhost");
            }
        },
        WITHOUT_ITS_INTERMEDIATE("unable to find valid certification path") {
            @Override
            CertificateAuthority.Issued issue(CertificateAuthority authority) throws Exception {
                return authority.issueByIntermediate("localhost", false);
            }
        };

        final String reason;

        Faulty(String reason) {
            this.reason = reason;
        }

        abstract CertificateAuthority.Issued issue(CertificateAuthority authority) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aCertificateThatDoesNotHoldIsToldWithItsEndpoint(Faulty faulty) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        try (Origin origin = Origin.startTls(faulty.issue(authority)).on("/", Behaviors.text("secret"));
                Rig rig = Rig.to("localhost", origin.port())
                        .upstreamProtocol("auto")
                        .upstream("tls: {caFile: " + authority.file() + "}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(502);
            assertThat(response.get("proxy-status").orElseThrow()).contains("tls_failed");
            assertThat(origin.requests("/")).isEmpty();
            assertThat(rig.awaitAccessLog(1).get(0))
                    .contains("\"cause\":\"tls_failed\"", "localhost:" + origin.port(), faulty.reason);
        }
    }

    /** The counterpart: the chain is whole, and so the upstream is served. */
    @Test
    void aCertificateWithItsIntermediateHolds() throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        try (Origin origin = Origin.startTls(authority.issueByIntermediate("localhost", true))
                        .on("/", Behaviors.text("ok"));
                Rig rig = Rig.to("localhost", origin.port())
                        .upstreamProtocol("auto")
                        .upstream("tls: {caFile: " + authority.file() + "}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    /** A body that only the end of the connection delimits is whole if TLS says so, not if merely TCP does. */
    @ParameterizedTest
    @CsvSource({"true, HTTP1", "true, H2C", "false, HTTP1", "false, H2C"})
    void aBodyWithoutLengthEndsWithTls(boolean inOrder, Peers downstream) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        SSLContext identity = authority.client(authority.issue("localhost"));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Rig rig = Rig.to("localhost", server.getLocalPort())
                        .upstream("tls: {caFile: " + authority.file() + "}")
                        .start();
                Peer client = rig.connect(downstream)) {
            Future<?> served = thread.submit(() -> {
                try (Socket socket = server.accept();
                        SSLSocket tls = (SSLSocket) identity.getSocketFactory().createSocket(socket, null, true)) {
                    tls.getInputStream().read();
                    tls.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\nsome".getBytes(StandardCharsets.US_ASCII));
                    if (!inOrder) {
                        socket.shutdownOutput();
                        socket.getInputStream().transferTo(OutputStream.nullOutputStream());
                    }
                    return null;
                }
            });
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            boolean complete;
            try {
                complete = stream.receiveFinal().status() == 200
                        && stream.receiveBody().equals("some");
            } catch (IOException e) {
                complete = false; // as it must be told: by a reset
            }
            assertThat(complete).isEqualTo(inOrder);
            assertThat(rig.awaitAccessLog(1).get(0).contains("\"cause\":\"upstream_reset_in_body\""))
                    .isEqualTo(!inOrder);
            served.get();
        } finally {
            thread.shutdownNow();
        }
    }

    /** A name of one label is asked for like any other: such are the names of services in a cluster. */
    @ParameterizedTest
    @ValueSource(strings = {"localhost", "shop-1", "shop.test"})
    void theUpstreamLearnsWhichNameIsAskedFor(String name) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        SSLContext identity = authority.client(authority.issue(name));
        String serverName = name.equals("localhost") ? "" : ", serverName: " + name;
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Rig rig = Rig.to("localhost", server.getLocalPort())
                        .upstream("tls: {verify: false" + serverName + "}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            Future<List<SNIServerName>> asked = thread.submit(() -> {
                try (SSLSocket tls =
                        (SSLSocket) identity.getSocketFactory().createSocket(server.accept(), null, true)) {
                    tls.getInputStream().read();
                    tls.getOutputStream().write("HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    return ((ExtendedSSLSession) tls.getSession()).getRequestedServerNames();
                }
            });
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(204);
            assertThat(asked.get()).containsExactly(new SNIHostName(name));
        } finally {
            thread.shutdownNow();
        }
    }
}
