package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Parents whose parent is the gateway itself: what is sent round is stopped the first time that it comes back. */
class ForwardingLoopIT {
    @TempDir
    static Path directory;

    private static String yaml(String parent) {
        return """
                listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: ["*"]
                    allowedPorts: [80, 443]
                    denyPrivate: false
                    parents: [{hosts: ["*"], proxy: "http://%s"}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                .formatted(parent);
    }

    private static Head ask(Rig rig, String method, String target) throws IOException {
        try (Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            client.raw(method + " " + target + " HTTP/1.1\r\nHost: far.test\r\nVia: 1.1 fred\r\n\r\n");
            return client.response(method).receiveFinal();
        }
    }

    /** The gateway's parent leads back to it: what comes back is refused, and the parent hands that on. */
    private static void assertRequestStopped(Rig rig) throws Exception {
        Head answer = ask(rig, "GET", "http://far.test/");
        assertThat(answer.status()).isEqualTo(508);
        assertThat(answer.all("proxy-status")).contains("gateway;error=proxy_loop_detected;details=\"loop_detected\"");
        assertStoppedOnce(rig);
    }

    private static void assertStoppedOnce(Rig rig) throws Exception {
        rig.awaitMetric(1, "gateway_downstream_requests_total", "cause=\"loop_detected\"");
        List<String> lines = rig.awaitAccessLog(2);
        assertThat(lines).hasSize(2); // it came once from its client, and once again
        assertThat(lines)
                .filteredOn(line -> line.contains("\"cause\":\"loop_detected\""))
                .hasSize(1);
    }

    @Test
    void aRequestThatTwoGatewaysSendRoundIsStopped() throws Exception {
        try (Rig rig = Rig.start(yaml("127.0.0.1:1"));
                Rig parent = Rig.start(yaml("127.0.0.1:" + rig.port("egress")))) {
            rig.reload(yaml("127.0.0.1:" + parent.port("egress")));
            assertRequestStopped(rig);
        }
    }

    @Test
    void aTunnelThatTwoGatewaysSendRoundIsStopped() throws Exception {
        try (Rig rig = Rig.start(yaml("127.0.0.1:1"));
                Rig parent = Rig.start(yaml("127.0.0.1:" + rig.port("egress")))) {
            rig.reload(yaml("127.0.0.1:" + parent.port("egress")));
            assertThat(ask(rig, "CONNECT", "far.test:443").status()).isEqualTo(502);
            assertStoppedOnce(rig);
        }
    }

    /** One entry sends everything through a filter, which sends it on through the other: nothing goes round. */
    @Test
    void aRequestThatPassesTwoEntriesIsNoLoop() throws Exception {
        String two =
                """
                listeners:
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: filtered, address: 127.0.0.1, port: 0, protocol: HTTP}
                connect:
                  - parentRefs: [{name: egress}]
                    allow: ["*"]
                    allowedPorts: [1-65535]
                    denyPrivate: false
                    parents: [{hosts: ["*"], proxy: "http://127.0.0.1:%d"}]
                  - parentRefs: [{name: filtered}]
                    allow: ["*"]
                    allowedPorts: [1-65535]
                    denyPrivate: false
                admin: {address: 127.0.0.1, port: 0}
                """;
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = Rig.start(two.formatted(1));
                Rig filter = Rig.start(yaml("127.0.0.1:" + rig.port("filtered"))
                        .replace("[80, 443]", "[1-65535]")
                        .replace("access.log", "filter.log"))) {
            rig.reload(two.formatted(filter.port("egress")));
            String authority = "127.0.0.1:" + origin.port();
            assertThat(ask(rig, "GET", "http://" + authority + "/").status()).isEqualTo(200);
            assertThat(ask(rig, "CONNECT", authority).status()).isEqualTo(200);
            assertThat(origin.requests("/").get(0).get("via").orElse(""))
                    .matches("1\\.1 fred(, 1\\.1 gateway-[0-9a-f]{12}){3}");
        }
    }

    /** Tinyproxy adds to {@code Via}, though not to that of a CONNECT. */
    @Test
    void aRequestThatAnotherProxySendsRoundIsStopped() throws Exception {
        try (Rig rig = Rig.start(yaml("127.0.0.1:1"))) {
            int port = Tools.freePort();
            Path config = Files.writeString(
                    directory.resolve("tinyproxy.conf"),
                    "Port " + port + "\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nUpstream http 127.0.0.1:"
                            + rig.port("egress") + "\n");
            Process tinyproxy = new ProcessBuilder(Tools.find("tinyproxy"), "-d", "-c", config.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("out").toFile())
                    .start();
            try {
                assertThat(Tools.awaitListening(port, tinyproxy))
                        .as(Files.readString(directory.resolve("out")))
                        .isTrue();
                rig.reload(yaml("127.0.0.1:" + port));
                assertRequestStopped(rig);
            } finally {
                Tools.stop(tinyproxy);
            }
        }
    }
}
