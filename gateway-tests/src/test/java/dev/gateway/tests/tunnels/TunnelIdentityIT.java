package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who is known gets the tunnels of their policy, whatever they speak and however they are known. */
class TunnelIdentityIT {
    /** Of "secret", by htpasswd -B. */
    private static final String ANN = "ann:$2y$05$se62JBLfwUBZq6DwaBCJsOb2.tDm4/PH7gUxa3hogdE3x7GjFIcQ6\n";

    @TempDir
    private Path directory;

    private CertificateAuthority servers;
    private CertificateAuthority clients;
    private ServerSocket target;
    private String authority;
    private Rig rig;

    @BeforeEach
    void start() throws Exception {
        servers = new CertificateAuthority("Servers", directory);
        clients = new CertificateAuthority("Clients", directory);
        target = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        authority = "127.0.0.1:" + target.getLocalPort();
        Files.writeString(directory.resolve("users"), ANN);
        Files.writeString(directory.resolve("tokens"), "ci:tok-1\n");
        String tls = servers.issue("localhost").ref();
        rig = Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {certificateRefs: [%1$s]}}
                  - name: certified
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {certificateRefs: [%1$s], clientAuth: optional, caFile: %2$s}
                connect:
                  - parentRefs: [{name: clear}, {name: secure}]
                    allowedPorts: [%3$d]
                    allow: []
                    trustedDestinations: [127.0.0.1]
                    auth: {basic: {usersFile: %4$s}, bearer: {tokensFile: %5$s}}
                    policies: [{identities: [ann], allow: ["*"]}]
                  - parentRefs: [{name: certified}]
                    allowedPorts: [%3$d]
                    allow: []
                    trustedDestinations: [127.0.0.1]
                    auth: {clientCertificate: true}
                    policies: [{identities: [ann], allow: ["*"]}]
                accessLog: {format: json, path: access.log}
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(
                                tls,
                                clients.file(),
                                target.getLocalPort(),
                                directory.resolve("users"),
                                directory.resolve("tokens")));
    }

    @AfterEach
    void stop() throws Exception {
        rig.close();
        target.close();
    }

    private static String basic(String userPass) {
        return "Basic " + Base64.getEncoder().encodeToString(userPass.getBytes(StandardCharsets.UTF_8));
    }

    private void assertRefused(Peer peer, int status, String cause, String... fields) throws Exception {
        PeerStream stream = peer.open();
        Head answer = Handshake.askTunnel(stream, authority, fields);
        stream.receiveBody();
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.get("Proxy-Status").orElse("")).contains(cause);
    }

    private void assertTunnel(Peer peer, String... fields) throws Exception {
        PeerStream mine = Handshake.connect(peer, authority, fields);
        try (Socket socket = target.accept()) {
            PeerStream theirs = Handshake.raw(socket);
            mine.send("ping", false);
            assertThat(new String(socket.getInputStream().readNBytes(4), StandardCharsets.US_ASCII))
                    .isEqualTo("ping");
            theirs.send("pong", true);
            assertThat(mine.receiveBody()).isEqualTo("pong");
            mine.send("", true);
            assertThat(theirs.receive(new byte[1])).isNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    void credentialsDecide(Peers client) throws Exception {
        try (Peer peer = client.connect(rig.port(client.isTls() ? "secure" : "clear"))) {
            assertRefused(peer, 407, "proxy_auth");
            assertRefused(peer, 407, "proxy_auth", "Proxy-Authorization", basic("ann:wrong"));
            assertRefused(peer, 403, "policy_host", "Proxy-Authorization", "Bearer tok-1");
            assertTunnel(peer, "Proxy-Authorization", basic("ann:secret"));
        }
        assertThat(rig.awaitAccessLog(5))
                .anySatisfy(line -> assertThat(line).contains("\"identity\":\"ci\"", "policy_host"))
                .anySatisfy(line -> assertThat(line).contains("\"identity\":\"ann\"", "\"record\":\"close\""));
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1_TLS", "H2_TLS"})
    void aCertificateDecides(Peers client) throws Exception {
        int port = rig.port("certified");
        try (Peer nobody = client.connect(port, servers.client(null));
                Peer bob = client.connect(port, servers.client(clients.issue("bob")));
                Peer ann = client.connect(port, servers.client(clients.issue("ann")))) {
            assertRefused(nobody, 403, "proxy_auth");
            assertRefused(bob, 403, "policy_host");
            assertTunnel(ann);
        }
        assertThat(rig.awaitAccessLog(4))
                .anySatisfy(line -> assertThat(line).contains("\"identity\":\"bob\"", "policy_host"))
                .anySatisfy(line -> assertThat(line).contains("\"identity\":\"ann\"", "\"record\":\"close\""));
    }
}
