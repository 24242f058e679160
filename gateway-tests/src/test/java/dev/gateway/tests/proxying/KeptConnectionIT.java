package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A kept connection that its upstream closes costs no request that another connection can serve. */
@Tag("jar")
@Timeout(60)
class KeptConnectionIT {
    private static final int MANY = 8;
    private static final int REQUESTS = 40;

    private static GatewayJar gateway(String settings, Origin... origins) throws IOException {
        List<String> endpoints = new ArrayList<>();
        for (Origin origin : origins) {
            endpoints.add("{host: 127.0.0.1, port: " + origin.port() + "}");
        }
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            loadBalancer: RoundRobin
                            endpoints: %s
                            %s
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(endpoints, settings))
                .start();
    }

    private static PeerStream request(Peer client, String method, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(
                method.equals("POST") ? Head.request(method, path, "content-length", "0") : Head.request(method, path),
                true);
        return stream;
    }

    private static int status(PeerStream stream) throws IOException {
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    private static double metric(GatewayJar gateway, String name, String... labels) {
        try {
            return gateway.metric(name, labels);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Answers on new connections; once told, closes each of those it had before at the next request on it. */
    private static final class Closing implements Behavior {
        private final Set<Peer> before = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean closes = new AtomicBoolean();

        @Override
        public void serve(PeerStream stream, Head head) throws Exception {
            stream.receiveBody();
            if (!closes.get()) {
                before.add(stream.peer());
            } else if (before.contains(stream.peer())) {
                stream.peer().close(); // as if that had been on its way
                return;
            }
            Behaviors.text("ok").serve(stream, head);
        }
    }

    @Test
    void anUpstreamThatClosesAllThatItKeptCostsNoRequest() throws Exception {
        CountDownLatch all = new CountDownLatch(MANY);
        Closing closing = new Closing();
        try (Origin origin = Origin.start().on("/", closing).on("/warm", (stream, head) -> {
                    all.countDown();
                    all.await();
                    closing.serve(stream, head);
                });
                GatewayJar gateway = gateway("", origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            List<PeerStream> warm = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                warm.add(request(client, "GET", "/warm"));
            }
            for (PeerStream each : warm) {
                assertThat(status(each)).isEqualTo(200);
            }
            assertThat(closing.before).hasSize(MANY);
            closing.closes.set(true);
            assertThat(status(request(client, "GET", "/"))).isEqualTo(200);
        }
    }

    /** An attempt goes to another endpoint first, then stays where such connections have been dropped. */
    @Test
    void fiveEndpointsThatCloseAllTheyKeptCostNoRequest() throws Exception {
        Closing closing = new Closing();
        try (Origin a = Origin.start().on("/", closing);
                Origin b = Origin.start().on("/", closing);
                Origin c = Origin.start().on("/", closing);
                Origin d = Origin.start().on("/", closing);
                Origin e = Origin.start().on("/", closing);
                GatewayJar gateway = gateway("", a, b, c, d, e);
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            for (int i = 0; i < 5; i++) {
                assertThat(status(request(client, "GET", "/"))).isEqualTo(200);
            }
            assertThat(closing.before).hasSize(5);
            closing.closes.set(true);
            for (int i = 0; i < 5; i++) {
                assertThat(status(request(client, "GET", "/"))).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRequestThatWaitsIsNotGivenAConnectionWhoseCloseCameWithTheLastResponse(boolean tls) throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Behavior first = (stream, head) -> {
            answer.await();
            Behaviors.text("ok").serve(stream, head);
            stream.peer().close();
            closed.countDown();
        };
        String settings = "circuitBreaker: {maxConnections: 1}" + (tls ? "\n    tls: {verify: false}" : "");
        try (Origin origin = (tls ? Origin.startTls("http/1.1") : Origin.start())
                        .on("/first", first)
                        .on("/", Behaviors.text("ok"));
                GatewayJar gateway = gateway(settings, origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            PeerStream held = request(client, "POST", "/first");
            gateway.await("the first request", () -> !origin.requests("/first").isEmpty());
            PeerStream waits = request(client, "POST", "/");
            gateway.await(
                    "the other waits", () -> metric(gateway, "gateway_upstream_pending_requests", "\"app\"") == 1);
            gateway.signal("STOP");
            answer.countDown();
            closed.await();
            gateway.signal("CONT");
            assertThat(status(held)).isEqualTo(200);
            assertThat(status(waits)).isEqualTo(200);
        }
    }

    /** The gateway finds both at once, the request first. */
    @Test
    void aRequestThatComesAheadOfACloseIsNotGivenTheClosedConnection() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = gateway("", origin);
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(status(request(client, "POST", "/"))).isEqualTo(200);
            gateway.signal("STOP");
            PeerStream next = request(client, "POST", "/");
            origin.peers().get(0).close();
            long idle = System.nanoTime() + 200_000_000; // only what was idle for a while is looked at
            while (System.nanoTime() < idle) {
                LockSupport.parkNanos(idle - System.nanoTime()); // may return early
            }
            gateway.signal("CONT");
            assertThat(status(next)).isEqualTo(200);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    /** A request is sent and given up before the connection is there that it was to have. */
    private static void leaveUnused(GatewayJar gateway, Http2Peer client) throws Exception {
        gateway.signal("STOP");
        Http2Stream given = client.open();
        given.send(Head.request("GET", "/"), true);
        given.reset();
        gateway.signal("CONT");
    }

    @Test
    void aConnectionThatWasKeptUnusedCostsNoRequestEither() throws Exception {
        AtomicBoolean answers = new AtomicBoolean();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (answers.compareAndSet(false, true)) {
                        stream.peer().close();
                    } else {
                        Behaviors.text("ok").serve(stream, head);
                    }
                });
                GatewayJar gateway = gateway("", origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            leaveUnused(gateway, client);
            gateway.await(
                    "a connection that nobody uses", () -> metric(gateway, "gateway_upstream_connections_idle") == 1);
            assertThat(origin.requests("/")).isEmpty();
            assertThat(status(request(client, "GET", "/"))).isEqualTo(200);
            assertThat(origin.connections()).isEqualTo(2);
        }
    }

    @Test
    void aConnectionThatWasKeptUnusedIsClosedAsSoonAsTheUpstreamSaysOnOthers() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        Head says = Head.response(200, "content-length", "0", "keep-alive", "timeout=1");
        try (Origin origin = Origin.start()
                        .on("/warm", (stream, head) -> stream.send(says, true))
                        .on("/held", (stream, head) -> {
                            answer.await();
                            stream.send(says, true);
                        });
                GatewayJar gateway = gateway("", origin);
                Http2Peer client = Http2Peer.connect(gateway.port("web"))) {
            assertThat(status(request(client, "GET", "/warm"))).isEqualTo(200);
            PeerStream held = request(client, "GET", "/held");
            gateway.await("the request", () -> !origin.requests("/held").isEmpty());
            leaveUnused(gateway, client);
            gateway.await("two connections", () -> metric(gateway, "gateway_upstream_connections_total") == 2);
            gateway.await(
                    "one that is closed",
                    () -> metric(gateway, "gateway_upstream_connection_closed_total", "cause=\"idle_timeout\"") == 1);
            answer.countDown();
            assertThat(status(held)).isEqualTo(200);
        }
    }

    @Test
    void anUpstreamThatClosesAfterEachResponseWithoutSayingSoIsLearnedOf() throws Exception {
        Set<Peer> used = ConcurrentHashMap.newKeySet();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (used.add(stream.peer())) {
                        Behaviors.text("ok").serve(stream, head);
                    } else {
                        stream.peer().close(); // its FIN had been under way
                    }
                });
                GatewayJar gateway = gateway("", origin);
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            String learned = "closes connections after 1 requests without announcing it";
            gateway.await(
                    learned,
                    () -> { // how many requests that takes depends on how fast they are
                        try {
                            status(request(client, "POST", "/"));
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                        return gateway.log().contains(learned);
                    });
            int failed = 0;
            for (int i = 0; i < REQUESTS; i++) {
                failed += status(request(client, "POST", "/")) == 200 ? 0 : 1;
            }
            assertThat(failed).isLessThan(REQUESTS / 4); // every second one if nothing is learned
        }
    }
}
