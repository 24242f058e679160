package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a tunnel must not lead to, whatever else its entry allows: the gateway itself, and in audit mode private addresses. */
@Tag("jar")
@Timeout(120)
class TunnelRefusalsIT {
    private static GatewayJar egress(int adminPort, String entry) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        connect: [{parentRefs: [{name: egress}], allowedPorts: [1-65535], %s}]
                        admin: {address: 127.0.0.1, port: %d}
                        accessLog: {format: off}
                        """
                                .formatted(entry, adminPort))
                .start();
    }

    private static Head connect(GatewayJar gateway, String target) throws IOException {
        try (Http1Peer client = Http1Peer.connect(gateway.port("egress"))) {
            client.raw("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
            return client.response("CONNECT").receiveFinal();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "allow: ['*'], denyPrivate: false",
                "allow: ['*'], denyPrivate: false, audit: true",
                "allow: ['*'], trustedDestinations: [127.0.0.1, localhost]"
            })
    void theGatewaysOwnListenersAreRefused(String entry) throws Exception {
        try (GatewayJar gateway = egress(0, entry)) {
            for (int port : new int[] {gateway.adminPort(), gateway.port("egress")}) {
                for (String host : new String[] {"127.0.0.1", "localhost"}) {
                    Head answer = connect(gateway, host + ":" + port);
                    assertThat(answer.status()).as(host + ":" + port).isEqualTo(403);
                    assertThat(answer.get("proxy-status").orElse("")).contains("policy_address");
                }
            }
        }
    }

    @Test
    void aListenerThatIsNamedWithItsPortIsReached() throws Exception {
        int port = Tools.freePort();
        try (GatewayJar gateway = egress(port, "allow: ['*'], trustedDestinations: ['127.0.0.1:%d']".formatted(port))) {
            assertThat(connect(gateway, "127.0.0.1:" + port).status()).isEqualTo(200);
            assertThat(connect(gateway, "127.0.0.1:" + gateway.port("egress")).status())
                    .isEqualTo(403);
        }
    }

    @Test
    void auditModeRefusesWhatIsNotPublicAndWarnsOfItInTheList() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                GatewayJar gateway = egress(0, "audit: true")) {
            Head answer = connect(gateway, "127.0.0.1:" + server.getLocalPort());
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.get("proxy-status").orElse("")).contains("policy_address");
            assertThat(connect(gateway, "169.254.169.254:80").status()).isEqualTo(403);
            String list = gateway.admin("/allow-list", Duration.ofSeconds(20)).body();
            assertThat(list).contains("allow: []", "WARNING", "#  - \"169.254.169.254\"", "#  - \"127.0.0.1\"");
            assertThat(list.lines().filter(line -> !line.startsWith("#")))
                    .noneMatch(line -> line.contains("127.0.0.1") || line.contains("169.254"));
        }
    }

    @Test
    void theScriptOfAnAuditedEntrySendsEverythingHere() throws Exception {
        try (GatewayJar gateway = egress(0, "audit: true, pac: {}");
                Http1Peer client = Http1Peer.connect(gateway.port("egress"))) {
            client.raw("GET /proxy.pac HTTP/1.1\r\nHost: proxy.test:3128\r\n\r\n");
            var response = client.response("GET");
            Head head = response.receiveFinal();
            assertThat(head.status()).isEqualTo(200);
            assertThat(response.receiveBody()).contains("var otherwise = proxy;");
            // Nor may the page of another site read what stands in it.
            assertThat(head.all("x-content-type-options")).containsExactly("nosniff");
            assertThat(head.all("cross-origin-resource-policy")).containsExactly("same-origin");
        }
    }
}
