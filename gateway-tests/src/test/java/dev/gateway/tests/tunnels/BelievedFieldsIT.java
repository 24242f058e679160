package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Upstreams believe some fields, so strangers must not be able to send them, nor others that pass for them. */
@Tag("jar")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BelievedFieldsIT {
    private static final List<String> OF_PROXIES = List.of(
            "x-real-ip",
            "x-forwarded-prefix",
            "x-forwarded-ssl",
            "x-forwarded-client-cert",
            "traceparent",
            "tracestate",
            "b3",
            "x-b3-traceid",
            "x-b3-sampled");

    private static final List<String> ODD =
            List.of("x_forwarded_for", "x_real_ip", "x.user", "content~length", "x_user", "9content-length", "-user");

    private Origin origin;
    private GatewayJar gateway;

    @BeforeAll
    void start() throws IOException {
        origin = Origin.start().otherwise(Behaviors.text("ok"));
        gateway = GatewayJar.of(config("")).start();
    }

    private String config(String key) {
        return """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP%s}
                  - {name: behind, address: 127.0.0.1, port: 0, protocol: HTTP, trustedProxies: [127.0.0.0/8]}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {address: 127.0.0.1, port: 0}
                """
                .formatted(key, origin.port());
    }

    @AfterAll
    void stop() throws Exception {
        gateway.close();
        origin.close();
    }

    private static int ask(
            GatewayJar gateway, Peers peers, String listener, String path, List<String> names, String... others)
            throws IOException {
        List<String> fields = new ArrayList<>(List.of("x-user", "kept"));
        fields.addAll(List.of(others));
        names.forEach(name -> fields.addAll(List.of(name, "1")));
        try (Peer client = peers.connect(gateway.port(listener))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path, fields.toArray(String[]::new)), true);
            int status = stream.receiveFinal().status();
            stream.receiveBody();
            return status;
        }
    }

    private List<String> forwarded(String path, List<String> names) {
        Head seen = origin.requests(path).get(0);
        assertThat(seen.get("x-user")).contains("kept");
        return names.stream().filter(name -> seen.get(name).isPresent()).toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void whatOnlyProxiesMaySayDoesNotPassFromStrangers(Peers peers) throws Exception {
        String path = "/stranger-" + peers;
        assertThat(ask(gateway, peers, "web", path, OF_PROXIES)).isEqualTo(200);
        assertThat(forwarded(path, OF_PROXIES)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void whatTrustedProxiesSayPasses(Peers peers) throws Exception {
        String path = "/proxy-" + peers;
        assertThat(ask(gateway, peers, "behind", path, OF_PROXIES)).isEqualTo(200);
        assertThat(forwarded(path, OF_PROXIES)).isEqualTo(OF_PROXIES);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void namesThatPassForOthersAreDropped(Peers peers) throws Exception {
        String path = "/odd-" + peers;
        assertThat(ask(gateway, peers, "web", path, ODD)).isEqualTo(200);
        assertThat(forwarded(path, ODD)).isEmpty();
        assertThat(gateway.metric("gateway_protocol_violations_total", "listener=\"web\"", "kind=\"odd_field_name\""))
                .isPositive();
        gateway.awaitLog("headersWithUnderscores: allow");
    }

    @Test
    void namesThatPassForOthersAreRefusedWhereThatIsWanted() throws Exception {
        try (GatewayJar strict =
                GatewayJar.of(config(", headersWithUnderscores: reject")).start()) {
            for (Peers peers : List.of(Peers.HTTP1, Peers.H2C)) {
                for (String name : ODD) {
                    String path = "/strict-" + peers + ODD.indexOf(name);
                    assertThat(ask(strict, peers, "web", path, List.of(name)))
                            .as(name)
                            .isEqualTo(400);
                    assertThat(origin.requests(path)).isEmpty();
                }
                assertThat(ask(strict, peers, "web", "/plain-" + peers, List.of("x-1")))
                        .isEqualTo(200);
            }
        }
    }

    /** A trusted proxy may hand on what its client has written, but it writes its own fields in their own spelling. */
    @Test
    void whatLooksLikeAFieldThatTheGatewayTrustsPassesFromNobody() throws Exception {
        String digest = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683"; // of "key"
        String config =
                """
                listeners:
                  - {name: behind, address: 127.0.0.1, port: 0, protocol: HTTP, headersWithUnderscores: allow,
                     trustedProxies: [127.0.0.0/8]}
                routes:
                  - rules:
                      - matches: [{path: {value: /key}}]
                        filters:
                          - {type: APIKey, apiKey: {keysFile: keys, forwardKey: true}}
                          - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Who, value: "{identity}"}],
                             remove: [X-Debug]}}
                        backendRefs: [{name: app}]
                      - backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(origin.port());
        List<String> twins = List.of(
                "x_forwarded_for", "x.forwarded.prefix", "x_real_ip", "client_cert", "x_request_id", "x_b3_traceid");
        try (GatewayJar lenient = GatewayJar.of(config)
                .file("keys", ("ann:" + digest + "\n").getBytes(StandardCharsets.US_ASCII))
                .start()) {
            for (Peers peers : List.of(Peers.HTTP1, Peers.H2C)) {
                String path = "/twins-" + peers;
                List<String> names = new ArrayList<>(twins);
                names.addAll(OF_PROXIES);
                names.add("x_user");
                assertThat(ask(lenient, peers, "behind", path, names)).isEqualTo(200);
                List<String> passed = new ArrayList<>(OF_PROXIES);
                passed.add("x_user");
                assertThat(forwarded(path, names)).isEqualTo(passed);

                String guarded = "/key/" + peers;
                List<String> fields = List.of("x_who", "x_debug", "x_user");
                assertThat(ask(lenient, peers, "behind", guarded, fields, "x-api-key", "key"))
                        .isEqualTo(200);
                assertThat(forwarded(guarded, fields)).containsExactly("x_user");
                assertThat(origin.requests(guarded).get(0).get("x-who")).contains("ann");
                assertThat(ask(lenient, peers, "behind", guarded, List.of("x_api_key"), "x-api-key", "key"))
                        .isEqualTo(401);
            }
        }
    }

    /** Whoever allows them still believes no stranger. */
    @Test
    void namesThatPassForOthersPassWhereThatIsWantedButNotThoseOfProxies() throws Exception {
        try (GatewayJar lenient =
                GatewayJar.of(config(", headersWithUnderscores: allow")).start()) {
            for (Peers peers : List.of(Peers.HTTP1, Peers.H2C)) {
                String path = "/lenient-" + peers;
                assertThat(ask(lenient, peers, "web", path, ODD)).isEqualTo(200);
                assertThat(forwarded(path, ODD))
                        .containsExactly("x.user", "content~length", "x_user", "9content-length", "-user");
            }
        }
    }
}
