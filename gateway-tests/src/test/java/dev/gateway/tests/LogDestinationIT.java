package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lines of the access log reach syslog, and files that are rotated, as the configuration says. */
@Timeout(60)
class LogDestinationIT {
    private static final String MESSAGE = "<133>1 \\S+ \\S+ edge \\d+ access - GET / 200";

    private static Rig start(Origin origin, String log) throws IOException {
        return Rig.start(
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                accessLog: {template: '{method} {path} {status}', %s}
                """
                        .formatted(origin.port(), log));
    }

    private static void get(Rig rig) throws IOException {
        try (Peer client = Peers.HTTP1.connect(rig.port())) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            stream.receiveBody();
        }
    }

    @Test
    void eachLineIsAMessageOverUdp() throws Exception {
        try (DatagramSocket receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress());
                Origin origin = Origin.start().on("/", Behaviours.text("ok"));
                Rig rig = start(
                        origin,
                        "syslog: {address: 127.0.0.1, port: %d, transport: udp, facility: local0, appName: edge}"
                                .formatted(receiver.getLocalPort()))) {
            receiver.setSoTimeout(Peer.PATIENCE_MILLIS);
            get(rig);
            DatagramPacket packet = new DatagramPacket(new byte[2048], 2048);
            receiver.receive(packet);
            assertThat(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII))
                    .matches(MESSAGE);
        }
    }

    @Test
    void eachLineIsACountedMessageOverTcp() throws Exception {
        try (ServerSocket receiver = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Origin origin = Origin.start().on("/", Behaviours.text("ok"));
                Rig rig = start(
                        origin,
                        "syslog: {address: 127.0.0.1, port: %d, transport: tcp, facility: local0, appName: edge}"
                                .formatted(receiver.getLocalPort()))) {
            receiver.setSoTimeout(Peer.PATIENCE_MILLIS);
            get(rig);
            get(rig);
            try (Socket accepted = receiver.accept()) {
                accepted.setSoTimeout(Peer.PATIENCE_MILLIS);
                InputStream in = accepted.getInputStream();
                for (int i = 0; i < 2; i++) {
                    StringBuilder length = new StringBuilder();
                    for (int c = in.read(); c != ' '; c = in.read()) {
                        length.append((char) c);
                    }
                    byte[] message = in.readNBytes(Integer.parseInt(length.toString()));
                    assertThat(new String(message, StandardCharsets.US_ASCII)).matches(MESSAGE);
                }
            }
        }
    }

    @Test
    void aFileThatIsFullIsPutAside() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviours.text("ok"));
                Rig rig = start(origin, "path: access.log, rotation: {maxSize: 20B, maxFiles: 2}")) {
            Path directory = rig.file().resolveSibling("");
            for (int i = 0; i < 3; i++) { // of 10 bytes; the third begins another file
                get(rig);
                rig.awaitIdle();
            }
            rig.awaitAccessLog(1);
            assertThat(Files.exists(directory.resolve("access.log.1"))).isTrue();
            assertThat(Files.readString(directory.resolve("access.log.1"))).startsWith("GET / 200\n");
        }
    }
}
