package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A configuration that changes under load cuts nothing. {@code -Dreloads=1000} reloads it ten times as often. */
@Timeout(180)
@Tag("platform")
class ReloadIT {
    private static final int RELOADS = Integer.getInteger("reloads", 40);
    private static final int STREAMS = 40;
    private static final int ROUTES = 400;
    private static final long HEAP_SLACK = 8L << 20; // one generation has some 400 KiB: a tenth of them would show

    /** Answers a head at once, an event as soon as the test says so, and its end. */
    private static Behavior events(CountDownLatch goOn) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-type", "text/event-stream"), false);
            stream.send("data: begun\n\n", false);
            goOn.await();
            stream.send("data: ended\n\n", true);
        };
    }

    /**
     * One of many configurations: routes to what is under load, whose policy changes each time, to what streams, which
     * stays as it is, and to what comes and goes.
     */
    private static String yaml(Origin origin, int variant) {
        StringBuilder routes = new StringBuilder();
        for (int i = 0; i < ROUTES; i++) {
            routes.append("  - {name: route-%d, hostnames: [h%d.test], rules: [{backendRefs: [{name: app}]}]}\n"
                    .formatted(i, i));
        }
        return """
                listeners:
                  %1$s
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, timeouts: {requestHeaders: %2$ds}}
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {selfSigned: true, selfSignedDirectory: tls, sessionTickets: %3$s}
                routes:
                  - name: events
                    rules: [{matches: [{path: {type: Exact, value: /events}}], backendRefs: [{name: events}]}]
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                %4$s
                upstreams:
                  - {name: events, endpoints: [{host: 127.0.0.1, port: %5$d}]}
                  - name: app
                    endpoints: [{host: 127.0.0.1, port: %5$d}]
                    protocol: %6$s
                    circuitBreaker: {maxConnections: %7$d}
                admin: {port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 2s}
                """
                .formatted(
                        variant % 3 == 1 ? "- {name: passing, address: 127.0.0.1, port: 0, protocol: HTTP}" : "",
                        20 + variant % 2,
                        variant % 2 == 0,
                        routes,
                        origin.port(),
                        variant % 2 == 0 ? "http1" : "h2c",
                        500 + variant);
    }

    private static PeerStream openEvents(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/events"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        return stream;
    }

    private static long usedHeap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            memory.gc();
            least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    @Test
    @Timeout(600) // the long form
    void manyReloadsUnderLoadCutNothingAndLeaveNothing() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/events", events(goOn)).otherwise(Behaviors.text("ok"));
                Rig rig = Rig.start(yaml(origin, 0));
                SteadyLoad load = new SteadyLoad(rig)) {
            for (int i = 1; i <= 6; i++) { // what is made once has been made by then
                rig.reload(yaml(origin, i));
            }
            long before = usedHeap();
            List<Peers> protocols = List.of(Peers.values());
            List<Peer> clients = new ArrayList<>();
            List<PeerStream> streams = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                // All along the way, so that many generations have one to wait for.
                for (int reload = 0; reload < RELOADS / STREAMS; reload++) {
                    rig.reload(yaml(origin, 7 + i * (RELOADS / STREAMS) + reload));
                }
                Peer client = rig.connect(protocols.get(i % protocols.size()));
                clients.add(client);
                streams.add(openEvents(client));
            }
            for (int i = 0; i < RELOADS % STREAMS; i++) {
                rig.reload(yaml(origin, i));
            }
            assertThat(rig.metric("gateway_config_generations_draining")).isGreaterThan(10);
            load.goOnFor(200);
            goOn.countDown();
            for (PeerStream stream : streams) {
                assertThat(stream.receiveBody()).isEqualTo("data: begun\n\ndata: ended\n\n");
            }
            load.stop();
            for (Peer client : clients) {
                client.close();
            }
            rig.awaitIdle();
            rig.awaitMetric(0, "gateway_config_generations_draining");
            origin.forget();
            assertThat(usedHeap() - before).as("growth of the heap").isLessThan(HEAP_SLACK);
            assertThat(rig.metric("gateway_config_reloads_total", "success")).isGreaterThanOrEqualTo(RELOADS);
            assertThat(rig.metric("gateway_config_reloads_total", "failure")).isZero();
        }
    }

    // Files.

    private enum Change {
        IN_PLACE,
        RENAMED,
        LINK_SWAPPED
    }

    private static String answering(String body) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/plain, body: %s}}]}]}]
                admin: {port: 0}
                accessLog: {format: "off"}
                """
                .formatted(body);
    }

    private static String get(Rig rig) throws IOException {
        try (Peer client = rig.connect(Peers.HTTP1)) {
            return get(client, "/");
        }
    }

    private static String get(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        Head response = stream.receiveFinal();
        String body = stream.receiveBody();
        return response.status() == 200 ? body : response.status() + " " + response.get("proxy-status");
    }

    private static void awaitBody(Rig rig, String wanted) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (!get(rig).equals(wanted)) {
            assertThat(System.nanoTime()).as("the file is read").isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFileThatChangesIsReadByItself(Change change) throws Exception {
        try (Rig rig = Rig.start(answering("one"))) {
            Path file = rig.file();
            Path directory = file.getParent();
            switch (change) {
                case IN_PLACE -> Files.writeString(file, answering("two"));
                case RENAMED -> {
                    Path fresh = Files.writeString(directory.resolve("gateway.yaml~"), answering("two"));
                    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
                }
                case LINK_SWAPPED -> {
                    // First the file becomes a link, as Kubernetes mounts it, then what it leads to is swapped.
                    Files.writeString(
                            Files.createDirectory(directory.resolve("..1")).resolve("c"), answering("half"));
                    Files.writeString(
                            Files.createDirectory(directory.resolve("..2")).resolve("c"), answering("two"));
                    Files.createSymbolicLink(directory.resolve("..data"), Path.of("..1"));
                    Files.createSymbolicLink(directory.resolve("link"), Path.of("..data/c"));
                    Files.move(directory.resolve("link"), file, StandardCopyOption.ATOMIC_MOVE);
                    awaitBody(rig, "half");
                    Files.createSymbolicLink(directory.resolve("..tmp"), Path.of("..2"));
                    Files.move(directory.resolve("..tmp"), directory.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
                }
            }
            awaitBody(rig, "two");
        }
    }

    @Test
    void aFileThatIsWrongIsReportedOnceAndChangesNothing() throws Exception {
        try (Rig rig = Rig.start(answering("one"))) {
            Files.writeString(rig.file(), answering("two").replace("listeners", "listener"));
            rig.awaitMetric(1, "gateway_config_reloads_total", "failure");
            assertThat(rig.admin("/ready")).contains(rig.file() + ":1:1: unknown key 'listener'", "'listeners'");
            assertThat(get(rig)).isEqualTo("one");
            Files.writeString(rig.file(), answering("two"));
            awaitBody(rig, "two");
            rig.awaitMetric(1, "gateway_config_reloads_total", "success");
            assertThat(rig.admin("/ready")).isEqualTo("ready\n");
            assertThat(rig.metric("gateway_config_reloads_total", "failure")).isEqualTo(1);
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(2);
        }
    }

    // Upstreams.

    private static String to(String rest, String... upstreams) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                admin: {port: 0}
                accessLog: {format: json, path: access.log}
                %s
                upstreams:
                  - %s
                """
                .formatted(rest, String.join("\n  - ", upstreams));
    }

    private static String upstream(String name, String more, Origin... origins) {
        List<String> endpoints = new ArrayList<>();
        for (Origin origin : origins) {
            endpoints.add("{host: 127.0.0.1, port: " + origin.port() + "}");
        }
        return "{name: " + name + ", endpoints: " + endpoints + more + "}";
    }

    private static final String ALL_TO_APP = "routes: [{rules: [{backendRefs: [{name: app}]}]}]";
    private static final String ALL_TO_OTHER = "routes: [{rules: [{backendRefs: [{name: other}]}]}]";

    @ParameterizedTest
    @EnumSource
    void theConnectionsOfAnUpstreamThatDoesNotChangeAreKept(Pairing pairing) throws Exception {
        String protocol = ", protocol: " + pairing.upstream;
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start("workers: 1\n" + to(ALL_TO_APP, upstream("app", protocol, origin)));
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/")).isEqualTo("ok");
            rig.reload("workers: 1\n# moved\n" + to(ALL_TO_APP, upstream("app", protocol, origin)));
            assertThat(get(client, "/")).isEqualTo("ok");
            assertThat(origin.connections()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUpstreamThatChangesDrainsItsFormerConnections(Pairing pairing) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        String protocol = ", protocol: " + pairing.upstream;
        try (Origin former = Origin.start().on("/", Behaviors.text("former")).on("/events", events(goOn));
                Origin next = Origin.start().on("/", Behaviors.text("next"));
                Rig rig = Rig.start("workers: 1\n" + to(ALL_TO_APP, upstream("app", protocol, former)));
                Peer client = rig.connect(pairing);
                Peer busy = rig.connect(pairing)) {
            assertThat(get(client, "/")).isEqualTo("former");
            PeerStream stream = openEvents(busy);
            rig.reload("workers: 1\n" + to(ALL_TO_APP, upstream("app", protocol, next)));
            assertThat(get(client, "/")).isEqualTo("next");
            goOn.countDown();
            assertThat(stream.receiveBody()).isEqualTo("data: begun\n\ndata: ended\n\n");
            for (Peer connection : former.peers()) {
                connection.awaitClosed();
            }
            rig.awaitMetric(0, "gateway_config_generations_draining");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsRemovedIsCutWhenItHasHadItsTime(Pairing pairing) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String protocol = ", protocol: " + pairing.upstream;
        String drain = "drain: {timeout: 100ms}\n";
        try (Origin former = Origin.start().on("/events", events(never));
                Origin next = Origin.start().on("/", Behaviors.text("next"));
                Rig rig = Rig.start(drain + to(ALL_TO_APP, upstream("app", protocol, former)));
                Peer client = rig.connect(pairing)) {
            PeerStream stream = openEvents(client);
            rig.reload(drain + to(ALL_TO_OTHER, upstream("other", protocol, next)));
            byte[] buffer = new byte[100];
            IOException cut = null;
            try {
                while (stream.receive(buffer) >= 0) {
                    // what had come before
                }
            } catch (IOException e) {
                cut = e;
            }
            assertThat(cut).as("the stream does not look complete").isNotNull();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"cause\":\"drain\"");
            rig.awaitMetric(0, "gateway_config_generations_draining");
            never.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamToAnEndpointThatIsStillThereIsNotCut(Pairing pairing) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        String protocol = ", protocol: " + pairing.upstream;
        String drain = "drain: {timeout: 1ms}\n";
        try (Origin kept = Origin.start().on("/events", events(goOn));
                Origin added = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(drain + to(ALL_TO_APP, upstream("app", protocol, kept)));
                Peer client = rig.connect(pairing)) {
            kept.on("/", Behaviors.text("ok"));
            PeerStream stream = openEvents(client);
            rig.reload(drain + to(ALL_TO_APP, upstream("app", protocol, added, kept)));
            // The next one comes after the limit of the first, since the same thread does both.
            rig.reload(drain + to(ALL_TO_APP, upstream("app", protocol, added, kept)));
            rig.reload(drain + to(ALL_TO_APP, upstream("app", protocol, kept)));
            try (Peer other = rig.connect(pairing)) {
                assertThat(get(other, "/")).isEqualTo("ok");
            }
            goOn.countDown();
            assertThat(stream.receiveBody()).isEqualTo("data: begun\n\ndata: ended\n\n");
        }
    }
}
