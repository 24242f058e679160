package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints are asked whether they are well, and get no requests if they say that they are not. */
class HealthChecksIT {
    private static final long MAX_CONCURRENT_STREAMS = 3; // the setting's number in HTTP/2

    private static final String CHECK =
            "{active: {path: '/healthz?full=1', interval: 100ms, timeout: 20s, unhealthyThreshold: 2}}";

    private static Behavior status(int status) {
        return status(new AtomicInteger(status));
    }

    private static Behavior status(AtomicInteger status) {
        return (stream, head) -> {
            stream.receiveBody();
            if (status.get() == 204) { // which must not have a body
                stream.send(Head.response(204), true);
                return;
            }
            stream.send(Head.response(status.get(), "content-length", "2"), false);
            stream.send("so", true);
        };
    }

    private static String yaml(String endpoints, String upstream) {
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

    private static String at(Origin origin) {
        return "{host: localhost, port: " + origin.port() + "}";
    }

    @ParameterizedTest
    @ValueSource(strings = {"protocol: http1", "protocol: h2c", "tls: {verify: false}"})
    void anEndpointGetsNoRequestsWhileItSaysThatItIsNotWell(String upstream) throws Exception {
        AtomicInteger one = new AtomicInteger(503);
        boolean tls = upstream.startsWith("tls");
        try (Origin first = tls ? Origin.startTls() : Origin.start();
                Origin second = tls ? Origin.startTls() : Origin.start()) {
            first.on("/healthz", status(one)).on("/", status(201));
            second.on("/healthz", status(204)).on("/", status(202));
            try (Rig rig = Rig.start(yaml(at(first) + ", " + at(second), upstream + "\n    healthChecks: " + CHECK));
                    Peer client = rig.connect(Peers.HTTP1)) {
                rig.awaitStates("unhealthy", "healthy");
                assertThat(rig.endpoint(0).at("/failedCheck").asText()).isEqualTo("answered 503");
                for (int i = 0; i < 10; i++) {
                    assertThat(send(client)).isEqualTo(202);
                }
                Head asked = first.requests("/healthz").get(0);
                assertThat(asked.method()).isEqualTo("GET");
                assertThat(asked.target()).isEqualTo("/healthz?full=1");
                assertThat(asked.get("host").or(() -> asked.get(":authority"))).hasValue("localhost:" + first.port());
                assertThat(asked.get("user-agent")).hasValue("gateway-health-check");
                assertThat(asked.get("content-length")).isEmpty();
                assertThat(rig.metric("gateway_upstream_endpoints", "state=\"unhealthy\""))
                        .isEqualTo(1);
                assertThat(rig.admin("/explain?path=/")).contains("state unhealthy", "state healthy");
                assertThat(rig.metric("gateway_upstream_health_checks_total", "upstream=\"app\"", "result=\"failure\""))
                        .isPositive();
                await(second, "/healthz", 2); // so one has been answered
                assertThat(rig.metric("gateway_upstream_health_checks_total", "upstream=\"app\"", "result=\"success\""))
                        .isPositive();

                one.set(200);
                rig.awaitStates("healthy", "healthy");
                assertThat(send(client) + send(client)).isEqualTo(201 + 202);

                one.set(404);
                rig.awaitStates("unhealthy", "healthy");
                assertThat(rig.metric("gateway_upstream_requests_total"))
                        .as("checks are none")
                        .isEqualTo(12);
            }
        }
    }

    @Test
    void whoDoesNotAnswerInTimeIsNotWell() throws Exception {
        try (Origin silent = Origin.start().on("/healthz", Behaviors.silence());
                Origin well = Origin.start().on("/healthz", status(200));
                Rig rig = Rig.start(
                        yaml(
                                at(silent) + ", " + at(well) + ", {unix: nobody.sock}",
                                "healthChecks: {active: {path: /healthz, interval: 1s, timeout: 2s, unhealthyThreshold: 1}}"))) {
            rig.awaitStates("unhealthy", "healthy", "unhealthy");
            assertThat(rig.endpoint(0).at("/failedCheck").asText()).isEqualTo("no answer in 2000 ms");
            assertThat(rig.endpoint(2).at("/failedCheck").asText()).contains("nobody.sock");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void whoHangsIsFoundThoughItHasAllConnectionsThatItMayHave(String protocol) throws Exception {
        AtomicBoolean checked = new AtomicBoolean(true);
        AtomicBoolean served = new AtomicBoolean();
        long[] oneStream = {MAX_CONCURRENT_STREAMS, 1};
        try (Origin hanging = Origin.start(oneStream)
                        .on("/healthz", whenever(checked, 200))
                        .on("/", whenever(served, 201));
                Origin well =
                        Origin.start(oneStream).on("/healthz", status(200)).on("/", status(202));
                Rig rig = Rig.start(yaml(
                        at(hanging) + ", " + at(well),
                        """
                        protocol: %s
                            circuitBreaker: {maxConnections: 4}
                            healthChecks: {active: {path: /healthz, interval: 100ms, timeout: 1s}}
                        """
                                .formatted(protocol)))) {
            try (Peer first = askUntilItHas(1, "GET", hanging, well, rig).peer();
                    Peer second = askUntilItHas(2, "GET", hanging, well, rig).peer()) {
                await(hanging, "/healthz", hanging.requests("/healthz").size() + 3);
                rig.awaitStates("healthy", "healthy");

                checked.set(false);
                rig.awaitStates("unhealthy", "healthy");
                first.abort(); // lets go of the connections
                second.abort();
                rig.awaitMetric(0, "gateway_upstream_requests_active");
            }
            try (Peer client = rig.connect(Peers.HTTP1)) {
                for (int i = 0; i < 5; i++) {
                    assertThat(send(client)).isEqualTo(202);
                }
                assertThat(hanging.requests("/")).hasSize(2);

                served.set(true);
                checked.set(true);
                rig.awaitStates("healthy", "healthy");
                Set<Integer> answers = new TreeSet<>();
                for (int i = 0; i < 100 && answers.size() < 2; i++) {
                    answers.add(send(client));
                }
                assertThat(answers).containsExactly(201, 202);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void whoWaitsAtAnEndpointThatIsFoundNotToAnswerIsAnsweredAtOnce(String protocol) throws Exception {
        AtomicBoolean checked = new AtomicBoolean(true);
        try (Origin hanging =
                        Origin.start().on("/healthz", whenever(checked, 200)).on("/", Behaviors.silence());
                Origin well = Origin.start().on("/healthz", status(200)).on("/", status(202));
                Rig rig = Rig.start(yaml(
                        at(hanging) + ", " + at(well),
                        """
                        protocol: %s
                            healthChecks:
                              active: {path: /healthz, interval: 100ms, timeout: 1s, unhealthyThreshold: 1}
                              closeOnFailure: true
                        """
                                .formatted(protocol)))) {
            rig.awaitStates("healthy", "healthy");
            PeerStream get = askUntilItHas(1, "GET", hanging, well, rig);
            PeerStream post = askUntilItHas(2, "POST", hanging, well, rig);
            try (Peer first = get.peer();
                    Peer second = post.peer()) {
                checked.set(false);
                assertThat(get.receiveFinal().status())
                        .as("by the other endpoint")
                        .isEqualTo(202);
                Head refusal = post.receiveFinal();
                assertThat(refusal.status()).as("it may act twice").isEqualTo(504);
                assertThat(refusal.get("proxy-status"))
                        .hasValueSatisfying(value -> assertThat(value).contains("upstream_timeout"));
                assertThat(first).isNotSameAs(second);
            }
            assertThat(rig.metric("gateway_upstream_retries_total", "result=\"success\""))
                    .isPositive();
        }
    }

    /** Answers while it may, and never later. */
    private static Behavior whenever(AtomicBoolean may, int status) {
        return (stream, head) -> (may.get() ? status(status) : Behaviors.silence()).serve(stream, head);
    }

    @Test
    void ifNobodyIsWellAllGetRequests() throws Exception {
        try (Origin first = Origin.start().on("/", status(201));
                Origin second = Origin.start().on("/", status(202));
                Rig rig = Rig.start(yaml(at(first) + ", " + at(second), "healthChecks: " + CHECK));
                Peer client = rig.connect(Peers.HTTP1)) {
            rig.awaitStates("unhealthy", "unhealthy");
            assertThat(send(client) + send(client)).isEqualTo(201 + 202);
        }
    }

    @Test
    void aReloadEndsTheChecksThatAreGoneAndKeepsTheOthers() throws Exception {
        try (Origin former = Origin.start().on("/healthz", status(200));
                Origin next = Origin.start().on("/healthz", status(200));
                Rig rig = Rig.start(yaml(at(former), "healthChecks: " + CHECK))) {
            await(former, "/healthz", 3);
            rig.reload(yaml(at(next), "healthChecks: " + CHECK));
            await(next, "/healthz", 1); // by the loop that has ended the others before
            int asked = former.requests("/healthz").size();
            await(next, "/healthz", 5);
            assertThat(former.requests("/healthz").size())
                    .as("one may have been on its way")
                    .isBetween(asked, asked + 1);

            rig.reload(yaml(at(next), ""));
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("healthy");
        }
    }

    private static void await(Origin origin, String path, int count) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (origin.requests(path).size() < count) {
            if (System.nanoTime() > deadline) {
                throw new IOException("not asked: " + origin.port());
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    /**
     * Asks on new connections until an endpoint that does not answer has so many requests. They take turns, but the other
     * one gets a request, too, if another event loop has the connection that this one may have, or if this one refuses it.
     *
     * @return the last request
     */
    private static PeerStream askUntilItHas(int count, String method, Origin hanging, Origin other, Rig rig)
            throws IOException {
        while (true) {
            int answers = other.requests("/").size();
            Peer client = rig.connect(Peers.HTTP1);
            PeerStream stream = ask(client, method);
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
            while (hanging.requests("/").size() < count && other.requests("/").size() == answers) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("nobody was asked");
                }
                LockSupport.parkNanos(1_000_000);
            }
            if (hanging.requests("/").size() == count) {
                return stream;
            }
            client.close();
        }
    }

    private static PeerStream ask(Peer client, String method) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, "/"), true);
        return stream;
    }

    private static int send(Peer client) throws IOException {
        PeerStream stream = ask(client, "GET");
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
