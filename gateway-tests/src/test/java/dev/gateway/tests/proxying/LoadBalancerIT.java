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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each policy balances, over all pairs of protocols. */
@Timeout(60)
class LoadBalancerIT {
    private static final int REQUESTS = 60;
    private static final String HASH = "{policy: Hash, hash: [{header: x-user}, {cookie: id}]}";

    private static Origin origin(String name) throws IOException {
        return Origin.start().on("/", (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "x-origin", name, "content-length", "0"), true);
        });
    }

    private static String yaml(Pairing pairing, String loadBalancer, List<Origin> origins) {
        List<String> endpoints = new ArrayList<>();
        origins.forEach(origin -> endpoints.add("{host: 127.0.0.1, port: " + origin.port() + "}"));
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    protocol: %s
                    loadBalancer: %s
                    endpoints: %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(pairing.upstream, loadBalancer, endpoints);
    }

    private static String ask(Peer client, String... fields) throws IOException {
        List<String> all = new ArrayList<>(List.of("host", "a.test"));
        all.addAll(List.of(fields));
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", all.toArray(String[]::new)), true);
        Head head = stream.receiveFinal();
        assertThat(head.status()).isEqualTo(200);
        stream.receiveBody();
        return head.get("x-origin").orElse("");
    }

    @ParameterizedTest
    @EnumSource
    void eachPolicyUsesAllEndpoints(Pairing pairing) throws Exception {
        for (String policy : List.of("RoundRobin", "LeastRequest", "Random", "PeakEwma", HASH)) {
            try (Origin one = origin("one");
                    Origin two = origin("two");
                    Rig rig = Rig.start(yaml(pairing, policy, List.of(one, two)));
                    Peer client = rig.connect(pairing)) {
                Set<String> seen = new HashSet<>();
                for (int i = 0; i < REQUESTS; i++) {
                    seen.add(ask(client, "x-user", "user-" + i));
                }
                assertThat(seen).as(policy).containsExactlyInAnyOrder("one", "two");
                String word = policy.startsWith("{") ? "Hash" : policy;
                assertThat(rig.admin("/upstreams")).contains("\"loadBalancer\": \"" + word + "\"");
            }
        }
    }

    @CrossPairingTest
    void requestsOfTheSameKeyGoToTheSameEndpoint(Pairing pairing) throws Exception {
        try (Origin one = origin("one");
                Origin two = origin("two");
                Origin three = origin("three");
                Rig rig = Rig.start(yaml(pairing, HASH, List.of(one, two, three)));
                Rig replica = Rig.start(yaml(pairing, HASH, List.of(three, one, two)));
                Peer client = rig.connect(pairing);
                Peer other = replica.connect(pairing)) {
            int same = 0;
            for (int i = 0; i < REQUESTS; i++) {
                String byHeader = ask(client, "x-user", "u" + i);
                assertThat(ask(client, "x-user", "u" + i, "x-more", "" + i)).isEqualTo(byHeader);
                String byCookie = ask(client, "cookie", "a=b; id=" + i);
                assertThat(ask(client, "cookie", "id=" + i + "; c=d")).isEqualTo(byCookie);
                same += ask(other, "x-user", "u" + i).equals(byHeader) ? 1 : 0;
            }
            assertThat(same).as("the same at a replica, whatever the order").isGreaterThan(REQUESTS * 9 / 10);
        }
    }

    @CrossPairingTest
    void anEndpointThatDoesNotAnswerGetsNoMoreRequests(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Origin.Behavior hang = (stream, head) -> {
            stream.receiveBody();
            arrived.countDown();
            goOn.await();
            stream.send(Head.response(200, "content-length", "0"), true);
        };
        try (Origin one = origin("one").on("/hang", hang);
                Origin two = origin("two").on("/hang", hang);
                Rig rig = Rig.start(yaml(pairing, "LeastRequest", List.of(one, two)));
                Peer hanging = rig.connect(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream waiting = hanging.open();
            waiting.send(Head.request("GET", "/hang", "host", "a.test"), true);
            assertThat(arrived.await(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
            String idle = one.requests("/hang").isEmpty() ? "one" : "two";
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(ask(client)).isEqualTo(idle);
            }
            goOn.countDown();
            assertThat(waiting.receiveFinal().status()).isEqualTo(200);
            waiting.receiveBody();
        }
    }
}
