package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway makes of what DNS says of names, and of what it does not. */
@Tag("jar")
@Timeout(90)
class NamesIT {
    private static int get(GatewayJar gateway) throws IOException {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            int status = stream.receiveFinal().status();
            stream.receiveBody();
            return status;
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "WELL")
    void theLastKnownAddressesServeWhileDnsFails(Mood mood) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "2", "connection", "close"), false);
                    stream.send("ok", true);
                });
                NameServer names = new NameServer().answers("app.test", "127.0.0.1");
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: app.test, port: %d}]}]
                                resolver: {nameServers: ["127.0.0.1:%d"]}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port(), names.port()))
                        .start()) {
            assertThat(get(gateway)).isEqualTo(200);
            names.be(mood);
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2_500); // longer than any answer holds
            int asked = 0;
            while (System.nanoTime() < end) {
                assertThat(get(gateway)).as("request %d", asked++).isEqualTo(200);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
            while (gateway.metric("gateway_dns_stale_names") != 1) { // a query that nobody answers fails late
                assertThat(get(gateway)).isEqualTo(200);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // ended by the test's timeout
            }
            names.be(Mood.WELL);
            while (gateway.metric("gateway_dns_stale_names") > 0) {
                assertThat(get(gateway)).isEqualTo(200);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // ended by the test's timeout
            }
        }
    }

    private static GatewayJar toName(String protocol, int port, NameServer names) throws IOException {
        return GatewayJar.of(
                        """
                        workers: 1
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, protocol: %s, endpoints: [{host: app.test, port: %d}]}]
                        resolver: {nameServers: ["127.0.0.1:%d"]}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(protocol, port, names.port()))
                .start();
    }

    private static String body(GatewayJar gateway) {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            return stream.receiveBody();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void keptConnectionsFollowANameThatMoves(String protocol) throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        try (Origin former = Origin.start().on("/", Behaviors.text("former")).on("/slow", (stream, head) -> {
                    runs.countDown();
                    ends.await();
                    Behaviors.text("slow").serve(stream, head);
                });
                Origin next = Origin.startAt("127.0.0.2", former.port()).on("/", Behaviors.text("next"));
                NameServer names = new NameServer().moves("app.test", "127.0.0.1");
                GatewayJar gateway = toName(protocol, former.port(), names);
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream slow = client.open();
            slow.send(Head.request("GET", "/slow"), true);
            runs.await();
            assertThat(body(gateway)).isEqualTo("former");
            names.moves("app.test", "127.0.0.2");
            gateway.await("a request at the next address", () -> body(gateway).equals("next"));
            for (int i = 0; i < 20; i++) {
                assertThat(body(gateway)).isEqualTo("next");
            }
            assertThat(next.connections()).isOne();
            ends.countDown();
            assertThat(slow.receiveFinal().status()).as("what runs ends well").isEqualTo(200);
            assertThat(slow.receiveBody()).isEqualTo("slow");
            while (gateway.metric("gateway_upstream_connections_active", "upstream", "app") > 1) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // ended by the test's timeout
            }
            assertThat(gateway.metric("gateway_upstream_connection_closed_total", "cause=\"address\""))
                    .isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"WELL", "SILENCE"})
    void connectionsAreKeptWhileDnsFails(Mood mood) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().moves("app.test", "127.0.0.1");
                GatewayJar gateway = toName("http1", origin.port(), names)) {
            assertThat(body(gateway)).isEqualTo("ok");
            names.be(mood);
            int answered = names.answered();
            gateway.await("further questions", () -> body(gateway).isEmpty() || names.answered() >= answered + 3);
            assertThat(origin.connections()).isOne();
        }
    }

    @Test
    void namesThatClientsChooseHaveFewAddressesInMemory() throws Exception {
        int asked = 400;
        int addresses = 240;
        try (NameServer names = new NameServer().fills("big.test", addresses);
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                connect: [{parentRefs: [{name: web}], allow: ["*"], allowedPorts: [443]}]
                                resolver: {nameServers: ["127.0.0.1:%d"]}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(names.port()))
                        .start()) {
            for (int i = 0; i < asked; i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"))) {
                    socket.setSoTimeout(Peer.PATIENCE_MILLIS);
                    String authority = "n" + i + ".big.test:443";
                    socket.getOutputStream()
                            .write(("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n")
                                    .getBytes(StandardCharsets.US_ASCII));
                    assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                            .isEqualTo("HTTP/1.1 403");
                }
            }
            assertThat(gateway.instances("java.net.Inet4Address")).isLessThan(asked * addresses / 4);
        }
    }

    /**
     * In a mount namespace of its own, where {@code resolv.conf} lists a domain: rules have judged the name as it was
     * written, and nothing else may be dialed.
     */
    @Test
    void aNameThatAClientNamesIsNeverCompleted(@TempDir Path directory) throws Exception {
        Path resolvConf = Files.writeString(
                directory.resolve("resolv.conf"), "nameserver 127.0.0.1\nsearch corp.test\noptions ndots:5\n");
        String mount = "mount --bind " + resolvConf + " /etc/resolv.conf";
        Tools.Result able = Tools.run("unshare", "--mount", "sh", "-c", mount);
        if (able.exit() != 0) {
            Tools.missing("no mount namespace can be made here: " + able.output());
        }
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names = new NameServer()
                        .answers("wiki.corp.test", "127.0.0.1")
                        .answers("wiki", "127.0.0.1")
                        .answers("a.b.corp.test", "127.0.0.1")
                        .answers("app.corp.test", "127.0.0.1");
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners:
                                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                                routes: [{parentRefs: [{name: web}], rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: app, port: %d}]}]
                                connect:
                                  - parentRefs: [{name: egress}]
                                    allow: ["*"]
                                    deny: [.corp.test]
                                    allowedPorts: [1-65535]
                                    denyPrivate: false
                                resolver: {nameServers: ["127.0.0.1:%d"]}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port(), names.port()))
                        .under("unshare", "--mount", "sh", "-c", mount + " && exec \"$@\"", "sh")
                        .start()) {
            assertThat(connect(gateway, "wiki.corp.test:" + origin.port())).isEqualTo(403);
            assertThat(names.questions()).as("the upstream's own").isSubsetOf("app", "app.corp.test");
            assertThat(connect(gateway, "a.b:" + origin.port())).isEqualTo(502);
            assertThat(connect(gateway, "a.b.:" + origin.port())).isEqualTo(502);
            assertThat(connect(gateway, "wiki:" + origin.port())).isEqualTo(200); // which is a name of its own
            assertThat(names.questions()).contains("a.b", "wiki").isSubsetOf("a.b", "wiki", "app", "app.corp.test");
            // What the configuration names is completed as everything on this machine is.
            assertThat(get(gateway)).isEqualTo(200);
            assertThat(names.questions()).contains("app.corp.test");
        }
    }

    private static int connect(GatewayJar gateway, String target) throws IOException {
        try (Http1Peer client = Http1Peer.connect(gateway.port("egress"))) {
            client.raw("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
            return client.response("CONNECT").receiveFinal().status();
        }
    }
}
