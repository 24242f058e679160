package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A machine that has no local port left for connections to an endpoint. In a network namespace of its own, with four ports
 * for outgoing connections; clients come by a socket file.
 */
@Tag("jar")
@Timeout(90)
class NoLocalPortIT {
    private static final int PORTS = 4;
    private static final String NAMESPACE =
            "ip link set lo up && echo 50000 50003 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"";

    /**
     * Two endpoints. They hold each request for /hold for ever. Other connections stay open: the port of one that the
     * gateway closes before its endpoint does is in use for another minute (TIME_WAIT).
     */
    private static final String ENDPOINTS =
            """
            import socket, threading
            def serve(connection):
                try:
                    while True:
                        head = b''
                        while b'\\r\\n\\r\\n' not in head:
                            more = connection.recv(4096)
                            if not more:
                                return
                            head += more
                        if head.startswith(b'GET /hold'):
                            connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nx')
                            connection.recv(1)
                            return
                        connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
                finally:
                    connection.close()
            def listen(address):
                server = socket.create_server((address, 9000), backlog=100)
                while True:
                    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
            threads = [threading.Thread(target=listen, args=(a,)) for a in ('127.0.0.1', '127.0.0.2')]
            [t.start() for t in threads]
            """;

    private static SocketChannel ask(GatewayJar gateway, String path) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(gateway.directory().resolve("web.sock")));
        String request = "GET " + path + " HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n";
        channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
        return channel;
    }

    private static String answer(GatewayJar gateway, String path) throws IOException {
        try (SocketChannel channel = ask(gateway, path);
                InputStream in = Channels.newInputStream(channel)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Has a response begin, and leaves it so. */
    private static SocketChannel hold(GatewayJar gateway) throws IOException {
        SocketChannel channel = ask(gateway, "/hold");
        byte[] start = Channels.newInputStream(channel).readNBytes(12);
        assertThat(new String(start, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200");
        return channel;
    }

    private static String yaml(String... endpoints) {
        StringBuilder all = new StringBuilder();
        for (String each : endpoints) {
            all.append("{host: ").append(each).append(", port: 9000}, ");
        }
        return """
        workers: 1
        listeners: [{name: web, unix: web.sock, protocol: HTTP}]
        routes: [{rules: [{backendRefs: [{name: app}]}]}]
        upstreams: [{name: app, loadBalancer: RoundRobin, endpoints: [%s]}]
        admin: {enabled: false}
        accessLog: {format: json}
        """
                .formatted(all);
    }

    private static GatewayJar start(String yaml) throws Exception {
        Tools.find("python3");
        Tools.requireNamespace(NAMESPACE);
        return GatewayJar.of(yaml)
                .under("unshare", "-rn", "sh", "-c", NAMESPACE)
                .startedWith("Listener web at ")
                .start();
    }

    private static Process startEndpoints(GatewayJar gateway) throws Exception {
        Path script = Files.writeString(gateway.directory().resolve("endpoints.py"), ENDPOINTS);
        Process process = new ProcessBuilder(
                        "nsenter",
                        "--preserve-credentials",
                        "-U",
                        "-n",
                        "-t",
                        Long.toString(gateway.pid()),
                        "python3",
                        script.toString())
                .redirectErrorStream(true)
                .redirectOutput(gateway.directory().resolve("endpoints.log").toFile())
                .start();
        gateway.await("both endpoints", () -> listening(gateway) == 2);
        return process;
    }

    /** Counts what listens at port 9000 (2328 in hexadecimal) in the gateway's namespace. */
    private static long listening(GatewayJar gateway) {
        try {
            return Files.readAllLines(Path.of("/proc/" + gateway.pid() + "/net/tcp")).stream()
                    .filter(line -> line.contains(":2328 00000000:0000 0A"))
                    .count();
        } catch (IOException e) {
            return 0;
        }
    }

    @Test
    void theCauseIsOurOwnAndItRecovers() throws Exception {
        List<SocketChannel> held = new ArrayList<>();
        try (GatewayJar gateway = start(yaml("127.0.0.1"))) {
            Process endpoints = startEndpoints(gateway);
            try {
                for (int i = 0; i < PORTS; i++) {
                    held.add(hold(gateway));
                }
                for (int i = 0; i < 10; i++) { // more than would get an endpoint ejected
                    assertThat(answer(gateway, "/")).startsWith("HTTP/1.1 503").contains("overload");
                }
                gateway.awaitLog("\"cause\":\"overload\"");
                assertThat(gateway.log()).doesNotContain("ejected", "connect_failed", "Exception");
                for (SocketChannel each : held) {
                    each.close();
                }
                String last = "";
                while (!last.endsWith("ok")) { // the kernel frees the ports in a moment; the test's timeout ends this
                    last = answer(gateway, "/");
                }
            } finally {
                endpoints.destroyForcibly();
            }
        } finally {
            for (SocketChannel each : held) {
                each.close();
            }
        }
    }

    @Test
    void anotherEndpointIsTried() throws Exception {
        List<SocketChannel> held = new ArrayList<>();
        try (GatewayJar gateway = start(yaml("127.0.0.1", "127.0.0.2"))) {
            Process endpoints = startEndpoints(gateway);
            try {
                for (int i = 0; i < 2 * PORTS - 1; i++) {
                    held.add(hold(gateway)); // by turns, and at the end by the endpoint that is left
                }
                for (int i = 0; i < 6; i++) { // one port is left, of one endpoint
                    assertThat(answer(gateway, "/")).startsWith("HTTP/1.1 200").endsWith("ok");
                }
                assertThat(gateway.log()).doesNotContain("ejected", "connect_failed", "Exception");
            } finally {
                endpoints.destroyForcibly();
            }
        } finally {
            for (SocketChannel each : held) {
                each.close();
            }
        }
    }
}
