package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS that is routed by the name it asks for, and TCP, through a whole gateway. */
@Timeout(120)
@Tag("platform")
class PassedOnIT {
    private static final int MANY = 8 << 20; // more than the kernel holds

    @TempDir
    Path directory;

    private Origin origin;
    private ServerSocket server;
    private Rig rig;

    @BeforeEach
    void start() throws Exception {
        origin = Origin.startTls("h2", "http/1.1").on("/", Behaviors.text("hello"));
        server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        server.setSoTimeout(20_000);
        rig = Rig.start(
                """
                listeners:
                  - {name: passthrough, address: 127.0.0.1, port: 0, protocol: TLS, tls: {mode: Passthrough}}
                  - {name: db, address: 127.0.0.1, port: 0, protocol: TCP}
                  - {name: nobody, address: 127.0.0.1, port: 0, protocol: TCP}
                admin: {address: 127.0.0.1, port: 0}
                routes:
                  - parentRefs: [{name: passthrough}]
                    hostnames: [localhost, "*.example.com"]
                    rules: [{backendRefs: [{name: app}]}]
                  - parentRefs: [{name: db}]
                    rules: [{backendRefs: [{name: receiver}]}]
                  - parentRefs: [{name: nobody}]
                    rules: [{backendRefs: [{name: closed}]}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %d}]}
                  - {name: receiver, endpoints: [{host: 127.0.0.1, port: %d}], sendProxyProtocol: v1}
                  - {name: closed, endpoints: [{host: 127.0.0.1, port: %d}]}
                """
                        .formatted(origin.port(), server.getLocalPort(), ClosedPort.number()));
    }

    @AfterEach
    void stop() throws IOException {
        origin.close();
        server.close();
        rig.close();
    }

    private Tools.Result curl(String host, String... options) throws Exception {
        int port = rig.port("passthrough");
        List<String> command =
                new ArrayList<>(List.of(Tools.find("curl"), "-sS", "--resolve", host + ":" + port + ":127.0.0.1"));
        command.addAll(List.of(options));
        command.add("https://" + host + ":" + port + "/");
        return Tools.run(60, command);
    }

    @Test
    void tlsIsPassedOnByItsNameAndEndsAtTheUpstream() throws Exception {
        String certificate =
                origin.writeCertificate(directory.resolve("origin.crt")).toString();
        for (String version : List.of("--http1.1", "--http2")) {
            assertThat(curl("localhost", "--cacert", certificate, version).output())
                    .isEqualTo("hello");
        }
    }

    @Test
    void aWildcardNamesTheHostsBelowIt() throws Exception {
        assertThat(curl("a.b.example.com", "-k").output()).isEqualTo("hello");
    }

    @Test
    void aNameThatNoRouteHasIsToldByTls() throws Exception {
        Tools.Result result = curl("elsewhere.test", "-k");
        assertThat(result.exit()).isNotZero();
        assertThat(result.output()).contains("unrecognized name");
    }

    @Test
    void tcpIsPassedOnAndTheUpstreamToldOfTheClient() throws Exception {
        byte[] request = new byte[MANY];
        new Random(1).nextBytes(request);
        byte[] response = new byte[MANY];
        new Random(2).nextBytes(response);
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port("db"));
                Socket peer = server.accept()) {
            client.setSoTimeout(20_000);
            peer.setSoTimeout(20_000);
            String line = "PROXY TCP4 127.0.0.1 127.0.0.1 " + client.getLocalPort() + " " + rig.port("db") + "\r\n";
            assertThat(peer.getInputStream().readNBytes(line.length()))
                    .asString(StandardCharsets.US_ASCII)
                    .isEqualTo(line);
            Thread writer = new Thread(() -> {
                try {
                    client.getOutputStream().write(request);
                    client.shutdownOutput();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            writer.start();
            assertThat(peer.getInputStream().readAllBytes()).isEqualTo(request);
            writer.join();
            Thread answerer = new Thread(() -> {
                try {
                    peer.getOutputStream().write(response);
                    peer.shutdownOutput();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            answerer.start();
            assertThat(client.getInputStream().readAllBytes()).isEqualTo(response);
            answerer.join();
        }
    }

    @Test
    @SuppressWarnings("try") // a socket is closed by hand, which is what resets it
    void aResetIsPassedOnAsOne() throws Exception {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port("db"));
                Socket peer = server.accept()) {
            client.setSoTimeout(20_000);
            assertThat(peer.getInputStream().read()).isEqualTo('P');
            peer.setSoLinger(true, 0);
            peer.close();
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void anUpstreamThatIsNotThereIsAReset() throws Exception {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port("nobody"))) {
            client.setSoTimeout(20_000);
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }
}
