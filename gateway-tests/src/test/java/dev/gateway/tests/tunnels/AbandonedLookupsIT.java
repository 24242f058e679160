package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that names hosts which DNS does not know, and leaves before DNS has answered. */
@Timeout(120)
class AbandonedLookupsIT {
    private static final String HEAP = "gateway_client_heap_used_bytes";

    /** What a client may have of the lookups of one event loop. */
    private static final int MOST = 2048;

    private static final int AT_A_TIME = 100;

    private static PeerStream connect(Peer client, String authority) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("CONNECT", authority, "host", authority), false);
        return stream;
    }

    /** Names hosts, each once, and leaves as soon as the gateway has begun to look them up. */
    private static void nameAndLeave(Rig rig, int batch) throws IOException {
        try (Peer client = rig.connect(Peers.H2C)) {
            for (int i = 0; i < AT_A_TIME; i++) {
                connect(client, "n" + batch + "-" + i + ".silent.test:443");
            }
            assertThat(connect(client, "silent.test:1").receiveFinal().status())
                    .as("all were read")
                    .isEqualTo(403);
        }
    }

    /** Returns the status line that a client with another address gets. */
    private static String connectFrom(String address, int gateway, String authority) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway)) {
            socket.setSoTimeout(Peer.PATIENCE_MILLIS);
            socket.getOutputStream()
                    .write(("PROXY TCP4 " + address + " 198.51.100.1 4711 443\r\nCONNECT " + authority
                                    + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return String.valueOf(
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                            .readLine());
        }
    }

    @Test
    void lookupsAreOfTheClientThatHasLeftUntilTheyAreOver() throws Exception {
        try (ServerSocket destination = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
                NameServer names = new NameServer().answers("app.test", "127.0.0.1");
                Rig rig = Rig.start(
                        """
                        workers: 1
                        listeners:
                          - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: told, address: 127.0.0.1, port: 0, protocol: HTTP, proxyProtocol: {trustedCidrs: [127.0.0.0/8]}}
                        connect:
                          - parentRefs: [{name: clear}, {name: told}]
                            allow: ["*"]
                            allowedPorts: [443, %d]
                            denyPrivate: false
                        resolver: {nameServers: ["127.0.0.1:%d"]}
                        accessLog: {format: json, path: access.log}
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(destination.getLocalPort(), names.port()))) {
            names.be(Mood.SILENCE);
            int batches = MOST / AT_A_TIME + 1;
            for (int batch = 0; batch < batches; batch++) {
                nameAndLeave(rig, batch);
            }
            rig.awaitNoConnection();
            assertThat(rig.metric(HEAP)).as("charged without a connection").isGreaterThan(4096.0 * MOST);
            names.be(Mood.WELL);
            try (Peer client = rig.connect(Peers.H2C)) {
                assertThat(connect(client, "more.test:443").receiveFinal().status())
                        .isEqualTo(503);
            }
            String other = connectFrom("192.0.2.7", rig.port("told"), "app.test:" + destination.getLocalPort());
            assertThat(other).contains(" 200 ");
            destination.accept().close();
            assertThat(rig.awaitAccessLog(batches * (AT_A_TIME + 1) + 1))
                    .filteredOn(line -> line.contains("more.test:443"))
                    .singleElement()
                    .asString()
                    .contains("overload", "too many DNS lookups of this client are running");
            Rig.await(() -> rig.metric(HEAP), used -> used < 1_000_000);
            try (Peer client = rig.connect(Peers.H2C)) {
                assertThat(connect(client, "more.test:443").receiveFinal().status())
                        .as("DNS is asked again")
                        .isEqualTo(502);
            }
        }
    }
}
