package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
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
    void theNameServersOfTheGatewayKnowTheReceiver() throws Exception {
        try (DatagramSocket receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress());
                NameServer names = new NameServer().answers("log.test", "127.0.0.1");
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = start(
                        origin,
                        "syslog: {address: log.test, port: %d, transport: udp, facility: local0, appName: edge}}\n"
                                        .formatted(receiver.getLocalPort())
                                + "resolver: {nameServers: [\"127.0.0.1:%d\"]".formatted(names.port()))) {
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
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
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
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = start(origin, "path: access.log, rotation: {maxSize: 25B, maxFiles: 2}")) {
            get(rig);
            rig.awaitAccessLog(1);
            get(rig);
            rig.awaitAccessLog(2);
            get(rig); // of 10 bytes each, so this is one too many
            Path full = rig.file().resolveSibling("access.log.1");
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
            while (!Files.exists(full) && System.nanoTime() < deadline) {
                LockSupport.parkNanos(5_000_000);
            }
            assertThat(Files.readString(full)).startsWith("GET / 200\nGET / 200\n");
        }
    }
}
