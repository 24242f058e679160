package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests stay in the gateway's zone as far as its endpoints can take them, over all pairs of protocols. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ZonesIT {
    private static final int REQUESTS = 50;

    @TempDir
    Path directory;

    private static Origin origin(String name) throws IOException {
        return Origin.start().on("/", (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "x-origin", name, "content-length", "0"), true);
        });
    }

    /** Endpoints are in zones a, b, c, a, b and so on. */
    private static String yaml(Pairing pairing, String zone, String more, Origin... origins) {
        List<String> endpoints = new ArrayList<>();
        for (Origin origin : origins) {
            String its = String.valueOf((char) ('a' + endpoints.size() % 3));
            endpoints.add("{host: 127.0.0.1, port: " + origin.port() + ", zone: " + its + "}");
        }
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    protocol: %s
                    endpoints: %s
                    %s
                localZone: %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(pairing.upstream, endpoints, more, zone);
    }

    private static Head ask(Peer client, String... fields) throws IOException {
        List<String> all = new ArrayList<>(List.of("host", "a.test"));
        all.addAll(List.of(fields));
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", all.toArray(String[]::new)), true);
        Head head = stream.receiveFinal();
        assertThat(head.status()).isEqualTo(200);
        stream.receiveBody();
        return head;
    }

    private static String by(Head answer) {
        return answer.get("x-origin").orElse("");
    }

    private static Map<String, Integer> askOften(Peer client) throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < REQUESTS; i++) {
            counts.merge(by(ask(client)), 1, Integer::sum);
        }
        return counts;
    }

    @ParameterizedTest
    @EnumSource
    void requestsStayInTheirZone(Pairing pairing) throws Exception {
        try (Origin a = origin("a");
                Origin b = origin("b");
                Origin c = origin("c");
                Rig rig = Rig.start(yaml(pairing, "b", "", a, b, c));
                Peer client = rig.connect(pairing)) {
            assertThat(askOften(client)).containsOnlyKeys("b");
            assertThat(rig.endpoint(1).at("/zone").asText()).isEqualTo("b");
            assertThat(rig.admin("/upstreams")).contains("\"localZonePercent\": 100.0");
            assertThat(rig.admin("/explain?path=/")).contains("zone b");
            rig.reload(yaml(pairing, "c", "", a, b, c));
            try (Peer other = rig.connect(pairing)) {
                assertThat(askOften(other)).containsOnlyKeys("c");
            }
        }
    }

    @CrossPairingTest
    void whatTheZoneCannotTakeGoesToOthers(Pairing pairing) throws Exception {
        String policy = "loadBalancer: RoundRobin";
        try (Origin a = origin("a");
                Origin b = origin("b");
                Origin c = origin("c");
                Origin drained = origin("drained");
                Rig rig = Rig.start(yaml(pairing, "a", policy, a, b, c, drained));
                Peer client = rig.connect(pairing)) {
            rig.post("/endpoints/app/127.0.0.1:" + drained.port() + ":drain");
            rig.awaitStates("healthy", "healthy", "healthy", "draining");
            assertThat(askOften(client))
                    .as("a third, for a third of the requests")
                    .containsOnlyKeys("a");
            rig.reload(yaml(pairing, "a", policy, a, b, c, b, b));
            try (Peer other = rig.connect(pairing)) {
                assertThat(askOften(other)).containsOnlyKeys("a", "b", "c");
            }
        }
    }

    @CrossPairingTest
    void noRequestFailsIfTheZoneDoes(Pairing pairing) throws Exception {
        Origin gone = origin("gone");
        try (Origin b = origin("b");
                Origin c = origin("c");
                Rig rig = Rig.start(yaml(pairing, "a", "", gone, b, c));
                Peer client = rig.connect(pairing)) {
            assertThat(askOften(client)).containsOnlyKeys("gone");
            gone.close();
            assertThat(askOften(client)).doesNotContainKey("gone");
        } finally {
            gone.close();
        }
    }

    @CrossPairingTest
    void aSessionStaysWhereItIsWhateverTheZone(Pairing pairing) throws Exception {
        Path keys = Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef\n");
        String sessions = "sessionPersistence: {keyFile: " + keys + "}";
        try (Origin a = origin("a");
                Origin b = origin("b");
                Rig there = Rig.start(yaml(pairing, "b", sessions, a, b));
                Rig here = Rig.start(yaml(pairing, "a", sessions, a, b));
                Peer first = there.connect(pairing);
                Peer client = here.connect(pairing)) {
            Head begun = ask(first);
            assertThat(by(begun)).isEqualTo("b");
            String cookie = begun.get("set-cookie").orElse("").replaceAll(";.*", "");
            assertThat(by(ask(client))).isEqualTo("a");
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(by(ask(client, "cookie", cookie))).isEqualTo("b");
            }
        }
    }

    @Test
    void hashIsTheSameInEachZone() throws Exception {
        String hash = "loadBalancer: {policy: Hash, hash: [{header: x-user}]}";
        try (Origin a = origin("a");
                Origin b = origin("b");
                Rig here = Rig.start(yaml(Pairing.H1_TO_H1, "a", hash, a, b));
                Rig there = Rig.start(yaml(Pairing.H1_TO_H1, "b", hash, a, b));
                Peer one = here.connect(Pairing.H1_TO_H1);
                Peer other = there.connect(Pairing.H1_TO_H1)) {
            Map<String, Integer> counts = new TreeMap<>();
            for (int i = 0; i < REQUESTS; i++) {
                String by = by(ask(one, "x-user", "u" + i));
                assertThat(by(ask(other, "x-user", "u" + i))).isEqualTo(by);
                counts.merge(by, 1, Integer::sum);
            }
            assertThat(counts).containsOnlyKeys("a", "b");
        }
    }
}
