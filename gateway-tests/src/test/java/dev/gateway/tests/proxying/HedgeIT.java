package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A request that takes long goes to a second endpoint, too, over all pairs of protocols. */
@Timeout(60)
class HedgeIT {
    private static final int REQUESTS = 20;
    private static final int CANCEL = 8;

    private final BlockingQueue<Integer> cancels = new LinkedBlockingQueue<>(); // as origins have seen them
    private final Semaphore arrived = new Semaphore(0);
    private final CountDownLatch answers = new CountDownLatch(1);

    private static String yaml(Pairing pairing, String hedge, Origin... origins) {
        List<String> endpoints = new ArrayList<>();
        for (Origin origin : origins) {
            endpoints.add("{host: 127.0.0.1, port: " + origin.port() + "}");
        }
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}], hedge: %s}]}
                upstreams:
                  - {name: app, protocol: %s, loadBalancer: RoundRobin, endpoints: %s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                .formatted(hedge, pairing.upstream, endpoints);
    }

    /** Answers nobody, and sees when nobody waits any more. */
    private Behavior silent() {
        return (stream, head) -> {
            stream.receiveBody();
            arrived.release();
            if (stream instanceof Http2Stream http2) {
                cancels.add(http2.awaitReset());
            } else {
                stream.peer().awaitClosed();
                cancels.add(CANCEL);
            }
        };
    }

    /** Answers when the test says so. */
    private Behavior late() {
        return (stream, head) -> {
            stream.receiveBody();
            arrived.release();
            answers.await();
            Behaviors.text("late").serve(stream, head);
        };
    }

    private void awaitArrived(int requests) throws InterruptedException {
        assertThat(arrived.tryAcquire(requests, 20, TimeUnit.SECONDS))
                .as("%d requests at origins", requests)
                .isTrue();
    }

    private void assertCancelled() throws InterruptedException {
        assertThat(cancels.poll(20, TimeUnit.SECONDS)).isEqualTo(CANCEL);
    }

    private static PeerStream send(Peer client, String method, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, "host", "a.test"), true);
        return stream;
    }

    private static String answer(PeerStream stream) throws IOException {
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        return stream.receiveBody();
    }

    private static Origin quick() throws IOException {
        return Origin.start().on("/", Behaviors.text("quick"));
    }

    @ParameterizedTest
    @EnumSource
    void oneSlowEndpointOfFiveIsNotNoticed(Pairing pairing) throws Exception {
        try (Origin one = quick();
                Origin two = quick();
                Origin slow = Origin.start().on("/", silent());
                Origin four = quick();
                Origin five = quick();
                Rig rig = Rig.start(yaml(pairing, "{after: 50ms, budget: 100%}", one, two, slow, four, five));
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(answer(send(client, "GET", "/"))).isEqualTo("quick");
            }
            List<String> log = rig.awaitAccessLog(REQUESTS);
            int slower = slow.requests("/").size();
            assertThat(slower).isPositive();
            for (int i = 0; i < slower; i++) {
                assertCancelled();
            }
            List<String> won = log.stream()
                    .filter(line -> line.contains("\"hedge\":\"won\""))
                    .toList();
            String tried = "\"attempts\":2,\"tried\":[{\"endpoint\":\"127.0.0.1:" + slow.port() + "\"}]";
            assertThat(won).anyMatch(line -> line.contains(tried));
            rig.awaitMetric(won.size(), "gateway_upstream_hedges_total", "result=\"won\"");
            assertThat(rig.metric("gateway_upstream_requests_total", "attempt=\"hedge\"", "code_class=\"2xx\""))
                    .isEqualTo(won.size());
            rig.awaitMetric(0, "gateway_upstream_requests_active");
            rig.awaitMetric(0, "gateway_upstream_endpoint_requests_active");
            assertThat(rig.endpoint(2).at("/state").asText())
                    .as("it is not blamed")
                    .isEqualTo("healthy");
            assertThat(rig.admin("/explain?path=/")).contains("at another endpoint after 50ms");
        }
    }

    /** Whoever is asked first answers when another one has been asked, too. */
    @CrossPairingTest
    void theSecondAttemptIsCancelledIfTheFirstIsAnsweredSooner(Pairing pairing) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Behavior first = late();
        Behavior second = silent();
        Behavior behavior = (stream, head) -> (asked.getAndIncrement() == 0 ? first : second).serve(stream, head);
        try (Origin one = Origin.start().on("/", behavior);
                Origin two = Origin.start().on("/", behavior);
                Rig rig = Rig.start(yaml(pairing, "{after: 20ms, budget: 100%}", one, two));
                Peer client = rig.connect(pairing)) {
            PeerStream stream = send(client, "GET", "/");
            awaitArrived(2);
            rig.reload(yaml(pairing, "{after: 30ms, budget: 100%}", one, two));
            answers.countDown();
            assertThat(answer(stream)).isEqualTo("late");
            assertCancelled();
            rig.awaitMetric(1, "gateway_upstream_hedges_total", "result=\"lost\"");
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"hedge\":\"lost\"");
            assertThat(asked).hasValue(2);
        }
    }

    /** Both attempts go on, and neither endpoint gets later requests. */
    @CrossPairingTest
    void bothEndpointsMayLeaveTheConfigurationMeanwhile(Pairing pairing) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Behavior first = silent();
        Behavior second = late();
        Behavior behavior = (stream, head) -> (asked.getAndIncrement() == 0 ? first : second).serve(stream, head);
        try (Origin one = Origin.start().on("/", behavior);
                Origin two = Origin.start().on("/", behavior);
                Origin next = quick();
                Rig rig = Rig.start(yaml(pairing, "{after: 20ms, budget: 100%}", one, two));
                Peer client = rig.connect(pairing)) {
            PeerStream stream = send(client, "GET", "/");
            awaitArrived(2);
            rig.reload(yaml(pairing, "{after: 20ms, budget: 100%}", next));
            answers.countDown();
            assertThat(answer(stream)).isEqualTo("late");
            assertCancelled();
            try (Peer other = rig.connect(pairing)) {
                assertThat(answer(send(other, "GET", "/"))).isEqualTo("quick");
            }
            assertThat(asked).hasValue(2);
            List<String> log = rig.awaitAccessLog(2);
            assertThat(log.get(0)).contains("\"hedge\":\"won\"");
            rig.awaitMetric(0, "gateway_upstream_requests_active");
            rig.awaitMetric(1, "gateway_upstream_connections_active"); // the one to the endpoint that is left
        }
    }

    /** When a later request goes to the second endpoint, the time of those before is over. */
    @CrossPairingTest
    void whatMayActTwiceIsSentOnce(Pairing pairing) throws Exception {
        try (Origin one = Origin.start().on("/", late());
                Origin two = Origin.start().on("/", late());
                Rig rig = Rig.start(yaml(pairing, "{after: 20ms, budget: 100%}", one, two));
                Peer poster = rig.connect(pairing);
                Peer sender = rig.connect(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream post = send(poster, "POST", "/");
            PeerStream body = sender.open();
            body.send(Head.request("GET", "/", "host", "a.test", "content-length", "1"), false);
            body.send("x", true);
            awaitArrived(2);
            PeerStream get = send(client, "GET", "/");
            awaitArrived(2);
            answers.countDown();
            for (PeerStream each : List.of(post, body, get)) {
                assertThat(answer(each)).isEqualTo("late");
            }
            List<Head> requests = new ArrayList<>(one.requests("/"));
            requests.addAll(two.requests("/"));
            assertThat(requests.stream().filter(head -> head.method().equals("POST")))
                    .hasSize(1);
            assertThat(requests).as("both attempts of the last one").hasSize(4);
            assertThat(rig.awaitAccessLog(3).stream().filter(line -> line.contains("\"hedge\"")))
                    .hasSize(1);
        }
    }

    @CrossPairingTest
    void theBudgetHolds(Pairing pairing) throws Exception {
        int many = 6;
        try (Origin one = quick().on("/late", late());
                Origin two = quick().on("/late", late());
                Rig rig = Rig.start(yaml(pairing, "{after: 500ms, budget: 5%}", one, two));
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 2 * REQUESTS; i++) {
                assertThat(answer(send(client, "GET", "/"))).isEqualTo("quick");
            }
            List<Peer> clients = new ArrayList<>();
            List<PeerStream> streams = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                clients.add(rig.connect(pairing));
                streams.add(send(clients.get(i), "GET", "/late"));
            }
            rig.awaitMetric(many - 2, "gateway_upstream_hedges_total", "result=\"over_budget\"");
            awaitArrived(many + 2);
            answers.countDown();
            for (PeerStream each : streams) {
                assertThat(answer(each)).isEqualTo("late");
            }
            assertThat(one.requests("/late").size() + two.requests("/late").size())
                    .isEqualTo(many + 2);
            for (Peer each : clients) {
                each.close();
            }
        }
    }

    @CrossPairingTest
    void thePercentileOutlivesAReload(Pairing pairing) throws Exception {
        AtomicInteger slow = new AtomicInteger();
        Behavior behavior = (stream, head) ->
                (slow.getAndDecrement() == 1 ? silent() : Behaviors.text("quick")).serve(stream, head);
        try (Origin one = Origin.start().on("/", behavior);
                Origin two = Origin.start().on("/", behavior);
                Rig rig = Rig.start(yaml(pairing, "{after: p50, budget: 100%}", one, two));
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 2 * REQUESTS; i++) {
                assertThat(answer(send(client, "GET", "/"))).isEqualTo("quick");
            }
            rig.reload(yaml(pairing, "{after: p60, budget: 50%}", one, two));
            try (Peer other = rig.connect(pairing)) {
                slow.set(1);
                assertThat(answer(send(other, "GET", "/"))).isEqualTo("quick");
            }
            assertCancelled();
        }
    }
}
