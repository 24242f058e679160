package dev.gateway.tests.observability;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CountingRelay;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Exposed;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * While load runs and scrapes go on: metrics count what clients sent and got, to the byte. Relays before and behind the
 * gateway count what passes there.
 */
class LoadReconciliationIT {
    private static final int REQUESTS = 150; // of each connection
    private static final int GOAWAY_BYTES = 64; // at most, with its few words
    private static final int TUNNELS = 5; // of each thread

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Origin origin;
    private CountingRelay toOne; // where HTTP/1.1 is spoken
    private CountingRelay toTwo; // where HTTP/2 is
    private Rig rig;
    private CountingRelay toWeb;
    private CountingRelay toEgress;

    @BeforeEach
    void start() throws Exception {
        origin = Origin.start()
                .on("/echo", Behaviors.echo())
                .on("/socket", WebSocket::echo)
                .otherwise(Behaviors.text("hello"));
        toOne = new CountingRelay(origin.port());
        toTwo = new CountingRelay(origin.port());
        rig = Rig.start(
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - name: all
                    parentRefs: [{name: web}]
                    rules:
                      - {matches: [{path: {type: PathPrefix, value: /two}}], backendRefs: [{name: two}]}
                      - {backendRefs: [{name: one}]}
                upstreams:
                  - {name: one, endpoints: [{host: 127.0.0.1, port: %d}]}
                  - {name: two, endpoints: [{host: 127.0.0.1, port: %d}], protocol: h2c}
                connect:
                  - {parentRefs: [{name: egress}], allowedPorts: [1-65535], allow: ["*"], denyPrivate: false}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: json, path: access.log}
                """
                        .formatted(toOne.port(), toTwo.port()));
        toWeb = new CountingRelay(rig.port("web"));
        toEgress = new CountingRelay(rig.port("egress"));
    }

    @AfterEach
    void stop() throws Exception {
        threads.shutdownNow();
        toWeb.close();
        toEgress.close();
        rig.close();
        toOne.close();
        toTwo.close();
        origin.close();
    }

    @Test
    void whatClientsDidIsCountedToTheByte() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Integer>> scrapers = List.of(submit(() -> scrape(over)), submit(() -> scrape(over)));
        AtomicLong tunnelSent = new AtomicLong();
        AtomicLong tunnelReceived = new AtomicLong();
        List<Future<Integer>> load = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            load.add(submit(() -> requests(Peers.HTTP1)));
            load.add(submit(() -> requests(Peers.H2C)));
            load.add(submit(() -> tunnels(tunnelSent, tunnelReceived)));
            load.add(submit(this::webSocket));
        }
        int exchanges = 0;
        for (Future<Integer> each : load) {
            exchanges += each.get();
        }
        over.set(true);
        for (Future<Integer> each : scrapers) {
            assertThat(each.get()).as("scrapes").isPositive();
        }
        awaitEnd();

        // Of each three requests, one goes to the upstream that speaks HTTP/2.
        int requests = 6 * REQUESTS;
        int third = requests / 3;
        String total = "gateway_downstream_requests_total";
        assertThat(rig.metric(total, "listener=\"web\"", "code=\"200\"")).isEqualTo(requests + 3);
        assertThat(rig.metric(total, "listener=\"web\"", "method=\"POST\"")).isEqualTo(third);
        assertThat(rig.metric(total, "listener=\"egress\"", "code=\"200\"")).isEqualTo(3 * TUNNELS);
        assertThat(rig.metric(total)).isEqualTo(exchanges);
        assertThat(rig.metric("gateway_downstream_request_duration_seconds_count"))
                .isEqualTo(exchanges);
        assertThat(rig.metric("gateway_upstream_requests_total", "upstream=\"one\""))
                .isEqualTo(2 * third + 3);
        assertThat(rig.metric("gateway_upstream_requests_total", "upstream=\"two\""))
                .isEqualTo(third);
        assertThat(rig.metric("gateway_h2_streams_total", "side=\"downstream\""))
                .isEqualTo(3 * REQUESTS);
        assertThat(rig.metric("gateway_h2_streams_total", "side=\"upstream\"")).isEqualTo(third);
        assertThat(rig.metric("gateway_tunnels_total")).isEqualTo(3 * TUNNELS);
        assertThat(rig.metric("gateway_websockets_total")).isEqualTo(3);
        assertThat(rig.metric("gateway_tunnels_bytes_total", "direction=\"received\""))
                .isEqualTo((double) tunnelSent.get());
        assertThat(rig.metric("gateway_tunnels_bytes_total", "direction=\"sent\""))
                .isEqualTo((double) tunnelReceived.get());
        assertThat(rig.metric("gateway_downstream_received_bytes_total", "kind=\"tunnel\""))
                .isEqualTo((double) tunnelSent.get());
        assertConnectionsAndBytes();
        assertThat(rig.awaitAccessLog(requests + 3 * 2 + 3 * TUNNELS * 2)).hasSize(requests + 3 * 2 + 3 * TUNNELS * 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--h1", "-m10"})
    void whatALoadGeneratorReportsIsWhatWasCounted(String how) throws Exception {
        Tools.Result result =
                Tools.run(Tools.find("h2load"), "-n1000", "-c5", how, "http://127.0.0.1:" + toWeb.port() + "/two");
        assertThat(result.output()).contains("1000 succeeded, 0 failed, 0 errored, 0 timeout");
        Matcher traffic = Pattern.compile("traffic: .*?\\((\\d+)\\) total").matcher(result.output());
        assertThat(traffic.find()).as(result.output()).isTrue();
        awaitEnd();
        assertThat(rig.metric("gateway_downstream_requests_total", "code=\"200\""))
                .isEqualTo(1000);
        assertThat(rig.metric("gateway_downstream_requests_total")).isEqualTo(1000);
        assertThat(rig.metric("gateway_downstream_connections_total", "listener=\"web\""))
                .isEqualTo(5);
        assertThat(rig.metric("gateway_h2_streams_total", "side=\"downstream\""))
                .isEqualTo(how.equals("--h1") ? 0 : 1000);
        assertThat(rig.metric("gateway_h2_streams_total", "side=\"upstream\"")).isEqualTo(1000);
        // It does not read what comes when it has all responses, such as an acknowledgement of SETTINGS.
        assertThat(Long.parseLong(traffic.group(1)))
                .isLessThanOrEqualTo(toWeb.bytesBack())
                .isGreaterThan(toWeb.bytesBack() - 1000);
        assertConnectionsAndBytes();
    }

    private <T> Future<T> submit(Callable<T> task) {
        return threads.submit(task);
    }

    /** Waits until clients have gone and nothing goes on. */
    private void awaitEnd() throws Exception {
        await(toWeb::open, () -> 0);
        await(toEgress::open, () -> 0);
        rig.awaitNoConnection();
        rig.awaitIdle();
    }

    private static void await(LongSupplier actual, LongSupplier expected) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (actual.getAsLong() != expected.getAsLong() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(5_000_000);
        }
        assertThat(actual.getAsLong()).isEqualTo(expected.getAsLong());
    }

    private void assertConnectionsAndBytes() throws Exception {
        // Those that answer a client's FIN may be overtaken by the connection's end.
        double goaways = rig.metric("gateway_h2_goaways_total", "side=\"downstream\"", "direction=\"sent\"");
        for (Map.Entry<String, CountingRelay> each :
                Map.of("web", toWeb, "egress", toEgress).entrySet()) {
            String listener = "listener=\"" + each.getKey() + "\"";
            CountingRelay relay = each.getValue();
            assertThat(rig.metric("gateway_downstream_connections_total", listener))
                    .isEqualTo(relay.connections());
            assertThat(rig.metric("gateway_downstream_connections_active", listener))
                    .isZero();
            assertThat(rig.metric("gateway_downstream_received_bytes_total", listener))
                    .as("received by " + each.getKey())
                    .isEqualTo((double) relay.bytesThere());
            assertThat(rig.metric("gateway_downstream_sent_bytes_total", listener))
                    .as("sent by " + each.getKey())
                    .isBetween((double) relay.bytesBack(), relay.bytesBack() + GOAWAY_BYTES * goaways);
        }
        for (Map.Entry<String, CountingRelay> each :
                Map.of("one", toOne, "two", toTwo).entrySet()) {
            String upstream = "upstream=\"" + each.getKey() + "\"";
            CountingRelay relay = each.getValue();
            assertThat(rig.metric("gateway_upstream_connections_total", upstream))
                    .isEqualTo(relay.connections());
            // Its connections stay open, so there may still be something on its way.
            await(() -> metric("gateway_upstream_sent_bytes_total", upstream), relay::bytesThere);
            await(() -> metric("gateway_upstream_received_bytes_total", upstream), relay::bytesBack);
        }
    }

    private long metric(String name, String label) {
        try {
            return (long) rig.metric(name, label);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- load

    private int requests(Peers client) throws IOException {
        try (Peer peer = client.connect(toWeb.port())) {
            for (int i = 0; i < REQUESTS; i++) {
                PeerStream stream = peer.open();
                String body = "x".repeat(i * 10);
                switch (i % 3) {
                    case 0 -> stream.send(Head.request("GET", "/one"), true);
                    case 1 -> stream.send(Head.request("GET", "/two"), true);
                    default -> {
                        stream.send(Head.request("POST", "/echo", "content-length", "" + body.length()), false);
                        stream.send(body, true);
                    }
                }
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo(i % 3 == 2 ? body : "hello");
            }
        }
        return REQUESTS;
    }

    /** In each, a request to the origin itself. */
    private int tunnels(AtomicLong sent, AtomicLong received) throws IOException {
        String request = "GET /one HTTP/1.1\r\nHost: a\r\n\r\n";
        String authority = "127.0.0.1:" + origin.port();
        for (int i = 0; i < TUNNELS; i++) {
            try (Http1Peer client = Http1Peer.connect(toEgress.port())) {
                client.raw("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
                assertThat(client.response("CONNECT").receiveFinal().status()).isEqualTo(200);
                client.raw(request);
                client.halfClose();
                String answer = client.readToEnd();
                assertThat(answer).endsWith("hello");
                sent.addAndGet(request.length());
                received.addAndGet(answer.getBytes(ISO_8859_1).length);
            }
        }
        return TUNNELS;
    }

    private int webSocket() throws IOException {
        try (Http1Peer client = Http1Peer.connect(toWeb.port())) {
            WebSocket socket = new WebSocket(Handshake.open(client, "/socket"), true);
            for (int i = 0; i < 20; i++) {
                socket.text("message " + i);
                assertThat(socket.receive().text()).isEqualTo("message " + i);
            }
            socket.close(1000);
            socket.receive();
            socket.end();
        }
        return 1;
    }

    /** Reads again and again; nothing that only grows may fall. Returns how often. */
    private int scrape(AtomicBoolean over) throws Exception {
        Map<String, Double> before = new TreeMap<>();
        int scrapes = 0;
        while (!over.get()) {
            Exposed exposed = Exposed.parse(rig.admin("/metrics"));
            exposed.series().forEach((sample, value) -> {
                String name = exposed.metric(sample.replaceAll("\\{.*", ""));
                if (name.startsWith("gateway_")
                        && !"gauge".equals(exposed.types().get(name))) {
                    Double earlier = before.put(sample, value);
                    assertThat(earlier == null || earlier <= value)
                            .as(sample + " fell from " + earlier + " to " + value)
                            .isTrue();
                }
            });
            scrapes++;
        }
        return scrapes;
    }
}
