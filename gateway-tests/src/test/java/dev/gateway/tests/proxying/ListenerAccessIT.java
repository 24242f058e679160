package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients connect to a listener or do not, by their addresses, whatever the listener speaks. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ListenerAccessIT {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

    @TempDir
    Path files;

    private static Origin origin() throws IOException {
        return Origin.start().on("/", Behaviors.text("ok"));
    }

    private static Socket connect(String from, int port) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port));
        socket.setSoTimeout(10_000);
        return socket;
    }

    /** Returns the start of what comes back, empty if the connection was closed. */
    private static String answer(Socket socket, String request) {
        try {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return ""; // reset
        }
    }

    private static String answer(String from, int port, String request) throws IOException {
        try (Socket socket = connect(from, port)) {
            return answer(socket, request);
        }
    }

    private static String yaml(Origin origin, String ipAccess) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, ipAccess: {%1$s}}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}, ipAccess: {%1$s}}
                  - {name: bytes, address: 127.0.0.1, port: 0, protocol: TCP, ipAccess: {%1$s}}
                  - {name: open, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - name: proxied
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTP
                    proxyProtocol: {trustedCidrs: [127.0.0.0/8]}
                    ipAccess: {%1$s}
                routes:
                  - parentRefs: [{name: clear}, {name: secure}, {name: open}, {name: proxied}]
                    rules: [{backendRefs: [{name: app}]}]
                  - {parentRefs: [{name: bytes}], rules: [{backendRefs: [{name: app}]}]}
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %2$d}]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(ipAccess, origin.port());
    }

    @Test
    void aClientThatIsDeniedSeesAClosedConnectionOnEveryKindOfListener() throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, "deny: [127.0.0.2]"))) {
            for (String listener : new String[] {"clear", "secure", "bytes"}) {
                assertThat(answer("127.0.0.2", rig.port(listener), GET)).isEmpty();
                rig.awaitMetric(1, "gateway_downstream_connections_denied_total", "listener=\"" + listener + "\"");
            }
            assertThat(answer("127.0.0.2", rig.port("open"), GET)).isEqualTo("HTTP/1.1 200");
            assertThat(answer("127.0.0.1", rig.port("clear"), GET)).isEqualTo("HTTP/1.1 200");
            assertThat(answer("127.0.0.1", rig.port("bytes"), GET)).isEqualTo("HTTP/1.1 200");
            assertThat(rig.metric("gateway_downstream_connections_denied_total", "listener=\"clear\""))
                    .isEqualTo(1);
            assertThat(origin.requests("/")).hasSize(3);
        }
    }

    @Test
    void theAddressIsThatOfTheProxyProtocol() throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, "allow: [192.0.2.0/24, 127.0.0.9]"))) {
            int port = rig.port("proxied");
            assertThat(answer("127.0.0.1", port, "PROXY TCP4 192.0.2.7 192.0.2.1 1000 80\r\n" + GET))
                    .isEqualTo("HTTP/1.1 200");
            assertThat(answer("127.0.0.9", port, "PROXY TCP4 198.51.100.7 192.0.2.1 1000 80\r\n" + GET))
                    .isEmpty();
            rig.awaitMetric(1, "gateway_downstream_connections_denied_total", "listener=\"proxied\"");
            // The proxy itself, as for its health checks.
            assertThat(answer("127.0.0.9", port, "PROXY UNKNOWN\r\n" + GET)).isEqualTo("HTTP/1.1 200");
        }
    }

    @Test
    void aChangedFileAndAReloadHoldForNewConnectionsOnly() throws Exception {
        Path list = Files.writeString(files.resolve("offices"), "127.0.0.1\n127.0.0.2\n");
        String fromFile = "allowFiles: [\"" + list + "\"]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, fromFile));
                Http1Peer open = Http1Peer.connect(rig.port("clear"))) {
            assertThat(status(open)).isEqualTo(200);
            Path next = Files.writeString(files.resolve("next"), "127.0.0.2\n");
            Files.move(next, list, StandardCopyOption.ATOMIC_MOVE);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!answer("127.0.0.1", rig.port("clear"), GET).isEmpty()) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
            }
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);
            assertThat(answer("127.0.0.2", rig.port("clear"), GET)).isEqualTo("HTTP/1.1 200");

            rig.reload(yaml(origin, fromFile + ", deny: [127.0.0.2], allow: [127.0.0.3]"));
            assertThat(answer("127.0.0.1", rig.port("clear"), GET)).isEmpty();
            assertThat(answer("127.0.0.2", rig.port("clear"), GET)).isEmpty();
            assertThat(answer("127.0.0.3", rig.port("clear"), GET)).isEqualTo("HTTP/1.1 200");
            assertThat(status(open)).isEqualTo(200);
        }
    }

    private static int status(Http1Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
