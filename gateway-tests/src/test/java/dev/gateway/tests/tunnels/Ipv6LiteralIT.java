package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of IPv6 are reached where they are written: as an endpoint, in a CONNECT, and in a URI. */
@Timeout(60)
class Ipv6LiteralIT {
    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

    /** Answers one request on [::1], and then tells what its head was. */
    private static CompletableFuture<String> answer(ServerSocket server) {
        return CompletableFuture.supplyAsync(() -> {
            try (Socket socket = server.accept()) {
                socket.setSoTimeout(Peer.PATIENCE_MILLIS);
                StringBuilder head = new StringBuilder();
                while (head.indexOf("\r\n\r\n") < 0) {
                    int next = socket.getInputStream().read();
                    if (next < 0) {
                        throw new IOException("ended within: " + head);
                    }
                    head.append((char) next);
                }
                socket.getOutputStream().write(ANSWER.getBytes(StandardCharsets.US_ASCII));
                return head.toString();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Rig start(int port) throws IOException {
        return Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: proxy, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes: [{parentRefs: [{name: clear}], rules: [{preserveHost: false, backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: "::1", port: %d}]}]
                connect:
                  - {parentRefs: [{name: proxy}], allowedPorts: [1-65535], allow: ["::1/128"], denyPrivate: false}
                accessLog: {format: off}
                """
                        .formatted(port));
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void anEndpoint(Peers protocol) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("::1"));
                Rig rig = start(server.getLocalPort());
                Peer client = protocol.connect(rig.port("clear"))) {
            CompletableFuture<String> head = answer(server);
            assertThat(ask(client, "/")).isEqualTo("ok");
            assertThat(head.join()).containsIgnoringCase("host: [::1]:" + server.getLocalPort() + "\r\n");
        }
    }

    /** The reference says so: for IPv4 alone, the configuration names an address of IPv4. */
    @ParameterizedTest
    @ValueSource(strings = {"", "address: 0.0.0.0, ", "address: '::', "})
    void aListenerOnAllAddresses(String address) throws Exception {
        try (Rig rig = Rig.start(
                """
                listeners: [{name: clear, %sport: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 204}}]}]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: off}
                """
                        .formatted(address))) {
            for (String literal : new String[] {"127.0.0.1", "::1"}) {
                try (Socket socket = new Socket(InetAddress.getByName(literal), rig.port("clear"))) {
                    socket.setSoTimeout(Peer.PATIENCE_MILLIS);
                    socket.getOutputStream()
                            .write("GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
                    assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                            .as(literal)
                            .startsWith("HTTP/1.1 204 ");
                }
            }
        }
    }

    @Test
    void aTarget() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("::1"));
                Rig rig = start(server.getLocalPort())) {
            String authority = "[::1]:" + server.getLocalPort();
            for (Peers protocol : new Peers[] {Peers.HTTP1, Peers.H2C}) {
                try (Peer client = protocol.connect(rig.port("proxy"))) {
                    CompletableFuture<String> head = answer(server);
                    PeerStream tunnel = Handshake.connect(client, authority);
                    tunnel.send("GET /in-a-tunnel HTTP/1.1\r\n\r\n", false);
                    assertThat(tunnel.receiveBody()).as("by %s", protocol).isEqualTo(ANSWER);
                    assertThat(head.join()).startsWith("GET /in-a-tunnel");
                }
            }
            try (Peer client = Peers.HTTP1.connect(rig.port("proxy"))) {
                CompletableFuture<String> head = answer(server);
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "http://" + authority + "/plain", "host", authority), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
                assertThat(head.join()).startsWith("GET /plain").containsIgnoringCase("host: " + authority + "\r\n");
            }
        }
    }

    /** The client connects by IPv6, too, so that each place that names it has to write its address unambiguously. */
    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aClientAndItsUpstream(Peers protocol) throws Exception {
        try (Origin origin = Origin.startAt("::1", 0).on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(
                        """
                        listeners:
                          - {name: clear, address: "::1", port: 0, protocol: HTTP, forwardedHeaders: both}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: "::1", port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(origin.port()))) {
            String authority = "[::1]:" + rig.port("clear");
            try (Socket socket = new Socket("::1", rig.port("clear"));
                    Peer client = protocol.on(socket)) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/", "host", authority), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
                Head received = origin.requests("/").get(0);
                assertThat(received.all("host")).containsExactly(authority);
                assertThat(received.all("x-forwarded-for")).containsExactly("::1");
                assertThat(received.all("x-forwarded-host")).containsExactly(authority);
                assertThat(received.get("forwarded").orElseThrow())
                        .contains("for=\"[::1]\"")
                        .contains("host=\"" + authority + "\"");
                JsonNode line =
                        new ObjectMapper().readTree(rig.awaitAccessLog(1).get(0));
                assertThat(line.get("client").asText()).isEqualTo("::1");
                assertThat(line.get("peer").asText()).isEqualTo("::1");
                assertThat(line.get("endpoint").asText()).isEqualTo("[::1]:" + origin.port());
                assertThat(rig.endpoint(0).toString()).contains("\"[::1]:" + origin.port() + "\"");
                assertThat(rig.metric("gateway_upstream_requests_total", "upstream=\"app\""))
                        .isEqualTo(1);
            }
        }
    }

    @Test
    void theAdminListener() throws Exception {
        try (Rig rig = Rig.start(
                        """
                        listeners: [{name: clear, address: "::1", port: 0, protocol: HTTP}]
                        admin: {address: "::1", port: 0}
                        accessLog: {format: off}
                        """);
                Socket socket = new Socket("::1", rig.port("admin"));
                Peer client = Peers.HTTP1.on(socket)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/stats", "host", "[::1]:" + rig.port("admin")), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).contains("connections");
        }
    }

    private static String ask(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, "host", "a.test"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        return stream.receiveBody();
    }
}
