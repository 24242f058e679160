package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What endpoints get when some of them are out of service, join again, or fail now and then. */
class FewEndpointsIT {
    private static final String CHECKS =
            "{active: {path: /healthz, interval: 100ms, timeout: 2s, healthyThreshold: 1, unhealthyThreshold: 1}}";

    private static String yaml(String upstream, Origin... origins) {
        StringBuilder endpoints = new StringBuilder();
        for (Origin origin : origins) {
            endpoints.append("{host: localhost, port: ").append(origin.port()).append("}, ");
        }
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    loadBalancer: RoundRobin
                    endpoints: [%s]
                    %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 2s}
                """
                .formatted(endpoints, upstream);
    }

    /** An origin that answers with a status of its own, and its checks with one that the test may change. */
    private static Origin origin(int status, AtomicInteger check) throws IOException {
        return Origin.start()
                .on("/healthz", (stream, head) -> stream.send(Head.response(check.get(), "content-length", "0"), true))
                .on("/", (stream, head) -> stream.send(Head.response(status, "content-length", "0"), true));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 50})
    void oneOfThreeGetsEverythingUnlessThatIsFewerThanTheThreshold(int threshold) throws Exception {
        AtomicInteger ill = new AtomicInteger(503);
        AtomicInteger well = new AtomicInteger(200);
        try (Origin first = origin(201, well);
                Origin second = origin(202, ill);
                Origin third = origin(203, ill);
                Rig rig = Rig.start(
                        yaml("panicThreshold: " + threshold + "\n    healthChecks: " + CHECKS, first, second, third));
                Peer client = rig.connect(Peers.HTTP1)) {
            rig.awaitStates("healthy", "unhealthy", "unhealthy");
            if (threshold == 0) {
                assertThat(answers(client, 30)).containsExactly(Map.entry(201, 30));
                assertThat(panic(rig)).isFalse();
                return;
            }
            assertThat(answers(client, 30)).containsOnlyKeys(201, 202, 203);
            assertThat(panic(rig)).isTrue();
            assertThat(rig.metric("gateway_upstream_panic", "upstream=\"app\"")).isEqualTo(1);
            ill.set(200);
            rig.awaitStates("healthy", "healthy", "healthy");
            rig.awaitMetric(0, "gateway_upstream_panic", "upstream=\"app\"");
            assertThat(panic(rig)).isFalse();
        }
    }

    @Test
    void whoJoinsGetsATenthOfItsShareFirst() throws Exception {
        AtomicInteger well = new AtomicInteger(200);
        AtomicInteger returning = new AtomicInteger(200);
        try (Origin first = origin(201, well);
                Origin second = origin(202, returning);
                Origin added = origin(203, well);
                Rig rig = Rig.start(yaml("slowStart: 10h\n    healthChecks: " + CHECKS, first, second));
                Peer client = rig.connect(Peers.HTTP1)) {
            rig.awaitStates("healthy", "healthy");
            assertThat(answers(client, 100)).containsOnly(Map.entry(201, 50), Map.entry(202, 50));
            returning.set(503);
            rig.awaitStates("healthy", "unhealthy");
            returning.set(200);
            rig.awaitStates("healthy", "healthy");
            assertThat(answers(client, 220).get(202)).isBetween(18, 22);
            assertThat(rig.endpoint(1).at("/slowStartPercent").asInt()).isEqualTo(10);
            assertThat(rig.endpoint(0).has("slowStartPercent")).isFalse();

            rig.reload(yaml("slowStart: 10h\n    healthChecks: " + CHECKS, first, second, added));
            rig.awaitStates("healthy", "healthy", "healthy");
            Map<Integer, Integer> answers = answers(client, 240);
            assertThat(answers.get(202)).isBetween(17, 23);
            assertThat(answers.get(203)).isBetween(17, 23);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Peers.class,
            names = {"HTTP1", "H2C"})
    void whoFailsNowAndThenIsEjected(Peers peer) throws Exception {
        AtomicInteger well = new AtomicInteger(200);
        AtomicInteger count = new AtomicInteger();
        try (Origin first = origin(201, well);
                Origin second = origin(202, well);
                Origin third = Origin.start().on("/", (stream, head) -> {
                    int status = count.incrementAndGet() % 2 == 0 ? 500 : 203;
                    stream.send(Head.response(status, "content-length", "0"), true);
                });
                Rig rig = Rig.start(yaml(
                        (peer == Peers.HTTP1 ? "protocol: http1" : "protocol: h2c")
                                + "\n    healthChecks: {outlierDetection: {baseEjectionTime: 5m, successRate: "
                                + "{interval: 1s, minimumHosts: 3, requestVolume: 10, stdevFactor: 1000}}}",
                        first,
                        second,
                        third));
                Peer client = rig.connect(peer)) {
            while (!rig.endpoint(2).at("/state").asText().equals("ejected")) {
                answers(client, 60);
            }
            assertThat(answers(client, 30)).containsOnlyKeys(201, 202);
            assertThat(rig.metric("gateway_upstream_ejections_total", "upstream=\"app\""))
                    .isEqualTo(1);
        }
    }

    private static boolean panic(Rig rig) throws Exception {
        return new ObjectMapper()
                .readTree(rig.admin("/upstreams"))
                .at("/upstreams/0/panic")
                .asBoolean();
    }

    /** Returns how often each status was the answer. */
    private static Map<Integer, Integer> answers(Peer client, int requests) throws IOException {
        Map<Integer, Integer> answers = new TreeMap<>();
        for (int i = 0; i < requests; i++) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            answers.merge(stream.receiveFinal().status(), 1, Integer::sum);
            stream.receiveBody();
        }
        return answers;
    }
}
