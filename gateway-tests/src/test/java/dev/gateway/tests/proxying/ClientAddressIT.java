package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.OtlpReceiver;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each request has one client, whom the log, the pages and the limits agree on. */
@Tag("jar")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClientAddressIT {
    private Origin origin;
    private Origin destination;
    private GatewayJar gateway;

    @BeforeAll
    void start() throws IOException {
        origin = Origin.start().otherwise(Behaviors.text("ok"));
        destination = Origin.start().otherwise(Behaviors.text("ok"));
        gateway = GatewayJar.of(
                        """
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - name: behind
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTP
                            trustedProxies: [127.0.0.0/8, 192.0.2.0/24]
                          - name: behind-tcp
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTP
                            proxyProtocol: {trustedCidrs: [127.0.0.0/8]}
                        routes:
                          - rules:
                              - matches: [{path: {value: /allowed}}]
                                filters: [{type: IPAccess, ipAccess: {allow: ["0.0.0.0/0", "::/0"]}}]
                                backendRefs: [{name: app}]
                              - backendRefs: [{name: app}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        connect:
                          - parentRefs: [{name: behind}, {name: behind-tcp}]
                            allowedPorts: [1-65535]
                            allow: [127.0.0.1]
                            trustedDestinations: [127.0.0.1]
                            limits: {maxTunnelsPerClient: 2}
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(origin.port()))
                .start();
    }

    @AfterAll
    void stop() throws Exception {
        gateway.close();
        origin.close();
        destination.close();
    }

    private void get(Peers peers, String listener, String path, String... fields) throws IOException {
        try (Peer client = peers.connect(gateway.port(listener))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path, fields), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    private String logged(String path) throws IOException {
        gateway.awaitLog("\"path\":\"" + path + "\"");
        return gateway.log()
                .lines()
                .filter(line -> line.contains("\"path\":\"" + path + "\""))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void theAccessLogNamesTheClientAndThePeer(Peers peers) throws Exception {
        String path = "/log-" + peers;
        get(peers, "behind", path, "x-forwarded-for", "198.51.100.1, 203.0.113.9, 192.0.2.5");
        assertThat(logged(path)).contains("\"client\":\"203.0.113.9\",\"peer\":\"127.0.0.1\"");
        get(peers, "behind", path + "-forwarded", "forwarded", "for=\"[2001:db8::1]:80\", for=192.0.2.5");
        assertThat(logged(path + "-forwarded")).contains("\"client\":\"2001:db8::1\",\"peer\":\"127.0.0.1\"");
        get(peers, "web", path + "-stranger", "x-forwarded-for", "203.0.113.9");
        assertThat(logged(path + "-stranger")).contains("\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.1\"");
    }

    @Test
    void theProxyProtocolTellsTheClient() throws Exception {
        try (Http1Peer client = Http1Peer.connect(gateway.port("behind-tcp"))) {
            client.raw("PROXY TCP4 203.0.113.7 198.51.100.1 4711 443\r\n");
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/proxied"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
        assertThat(logged("/proxied")).contains("\"client\":\"203.0.113.7\",\"peer\":\"127.0.0.1\"");
    }

    @Test
    void spansNameTheClientAndThePeer() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                GatewayJar traced = GatewayJar.of(
                                """
                                listeners:
                                  - name: behind
                                    address: 127.0.0.1
                                    port: 0
                                    protocol: HTTP
                                    trustedProxies: [127.0.0.0/8]
                                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        + receiver.spans("{ratio: 1}"))
                        .start();
                Peer client = Peers.HTTP1.connect(traced.port("behind"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", "x-forwarded-for", "198.51.100.1, 203.0.113.9"), true);
            stream.receiveFinal();
            Span span = receiver.awaitSpans(1).get(0);
            assertThat(OtlpReceiver.attribute(span, "client.address")).isEqualTo("203.0.113.9");
            assertThat(OtlpReceiver.attribute(span, "network.peer.address")).isEqualTo("127.0.0.1");
        }
    }

    private int open(List<Peer> held, String listener, String header, String fields) throws IOException {
        Http1Peer client = Http1Peer.connect(gateway.port(listener));
        held.add(client);
        String authority = "127.0.0.1:" + destination.port();
        client.raw(header + "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" + fields + "\r\n");
        return client.response("CONNECT").receiveFinal().status();
    }

    private static void close(List<Peer> held) throws IOException {
        for (Peer each : held) {
            each.close();
        }
    }

    private static String line(String ip) {
        return "PROXY " + (ip.contains(":") ? "TCP6 " + ip + " 2001:db8::1" : "TCP4 " + ip + " 198.51.100.1")
                + " 4711 443\r\n";
    }

    /** A host has all addresses of its network, so it would else have as many tunnels as it likes. */
    @ParameterizedTest
    @CsvSource({
        "2001:db8:0:1::1, 2001:db8:0:1::2, 2001:db8:0:1:ffff::3, 2001:db8:0:2::1",
        "203.0.113.1, 203.0.113.1, 203.0.113.1, 203.0.113.2"
    })
    void aNetworkOfIpv6IsOneClientOfTunnels(String first, String second, String third, String other) throws Exception {
        List<Peer> held = new ArrayList<>();
        try {
            assertThat(open(held, "behind-tcp", line(first), "")).isEqualTo(200);
            assertThat(open(held, "behind-tcp", line(second), "")).isEqualTo(200);
            assertThat(open(held, "behind-tcp", line(third), "")).isEqualTo(429);
            assertThat(open(held, "behind-tcp", line(other), "")).isEqualTo(200);
        } finally {
            close(held);
        }
    }

    /** Clients behind one proxy are not one client, and one of them cannot be several. */
    @Test
    void clientsBehindATrustedProxyHaveLimitsOfTheirOwn() throws Exception {
        List<Peer> held = new ArrayList<>();
        try {
            for (String client : List.of("203.0.113.21", "203.0.113.22", "203.0.113.23")) {
                assertThat(open(held, "behind", "", "X-Forwarded-For: " + client + "\r\n"))
                        .isEqualTo(200);
            }
            assertThat(open(held, "behind", "", "X-Forwarded-For: 198.51.100.1, 203.0.113.21\r\n"))
                    .isEqualTo(200);
            assertThat(open(held, "behind", "", "X-Forwarded-For: 198.51.100.2, 203.0.113.21\r\n"))
                    .isEqualTo(429);
            assertThat(gateway.json("/tunnels").toString())
                    .contains("\"client\":\"203.0.113.23\",\"peer\":\"127.0.0.1:");
        } finally {
            close(held);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown", "_hidden", "unix:", "nonsense;", ""})
    void aClientWhomAProxyHidesIsUnknown(String hop) throws Exception {
        String path = "/hop-" + Integer.toHexString(hop.hashCode());
        get(Peers.HTTP1, "behind", path, "x-forwarded-for", "203.0.113.9, " + hop + ", 192.0.2.5");
        String client = hop.isEmpty() ? "203.0.113.9" : "unknown"; // an empty element is none
        assertThat(logged(path)).contains("\"client\":\"" + client + "\"");
    }

    /** Its hop could be anybody, so a list of those who may come has it not, however long the list is. */
    @ParameterizedTest
    @ValueSource(strings = {"unknown", "_hidden"})
    void aClientWhomAProxyHidesIsAllowedByNoList(String hop) throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            get(protocol, "behind", "/allowed", "forwarded", "for=203.0.113.9, for=192.0.2.5");
            try (Peer client = protocol.connect(gateway.port("behind"))) {
                PeerStream stream = client.open();
                stream.send(
                        Head.request("GET", "/allowed", "forwarded", "for=203.0.113.9, for=" + hop + ", for=192.0.2.5"),
                        true);
                assertThat(stream.receiveFinal().status()).as("by %s", protocol).isEqualTo(403);
            }
        }
    }
}
