package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints are where SRV records say, by their priorities and weights. */
@Timeout(120)
class SrvEndpointsIT {
    private static final String SERVICE = "_http._tcp.app.test";

    private static Rig start(NameServer names, String protocol) throws Exception {
        return Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - {name: app, protocol: %s, loadBalancer: RoundRobin, endpoints: [{srv: %s}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                resolver: {nameServers: ["127.0.0.1:%d"]}
                drain: {timeout: 2s}
                """
                        .formatted(protocol, SERVICE, names.port()));
    }

    private static String record(int priority, int weight, Origin origin, String target) {
        return priority + " " + weight + " " + origin.port() + " " + target;
    }

    private static String ask(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        String body = stream.receiveBody();
        return status == 200 ? body : Integer.toString(status);
    }

    private static int count(Peer client, int requests, String wanted) throws Exception {
        int count = 0;
        for (int i = 0; i < requests; i++) {
            count += ask(client).equals(wanted) ? 1 : 0;
        }
        return count;
    }

    @ParameterizedTest
    @EnumSource
    void requestsGoToTheTargetsByTheirWeightsFromTheFirstOneOn(Pairing pairing) throws Exception {
        try (Origin heavy = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("heavy"));
                Origin light = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("light"));
                Origin spare = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("spare"));
                NameServer names = new NameServer()
                        .serves(
                                SERVICE,
                                record(10, 30, heavy, "heavy.test"),
                                record(20, 99, spare, "spare.test"),
                                record(10, 10, light, "light.test"))
                        .has("heavy.test", List.of("127.0.1.1", "127.0.1.2"))
                        .has("light.test", List.of("127.0.2.1"))
                        .has("spare.test", List.of("127.0.3.1"));
                Rig rig = start(names, pairing.upstream);
                Peer client = rig.connect(pairing.client)) {
            assertThat(ask(client)).as("the first request").isIn("heavy", "light");
            int light400 = count(client, 400, "light");
            assertThat(light400).isBetween(80, 120);
            assertThat(UpstreamPage.endpoints(rig))
                    .containsExactlyInAnyOrder(
                            "127.0.1.1:" + heavy.port(), "127.0.1.2:" + heavy.port(), "127.0.2.1:" + light.port());
            JsonNode source = UpstreamPage.read(rig).at("/sources/0");
            assertThat(source.get("source").asText()).isEqualTo("srv:" + SERVICE);
            assertThat(source.get("state").asText()).isEqualTo("fresh");
            assertThat(source.get("endpoints").asInt()).isEqualTo(3);
            assertThat(source.get("ageSeconds").asDouble()).isNotNegative();
        }
    }

    @Test
    void aServerThatDoesNotKnowEdnsIsAskedWithoutIt() throws Exception {
        try (Origin app = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("app"));
                NameServer names = new NameServer()
                        .knowsNoExtensions()
                        .serves(SERVICE, record(1, 0, app, "app.test"))
                        .has("app.test", List.of("127.0.1.1"));
                Rig rig = start(names, "http1");
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(ask(client)).isEqualTo("app");
            assertThat(names.refusedExtensions()).contains(SERVICE);
            assertThat(UpstreamPage.endpoints(rig)).containsExactly("127.0.1.1:" + app.port());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void theNextPriorityServesWhileTheFirstHasNoAddress(String protocol) throws Exception {
        try (Origin first = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("first"));
                Origin next = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("next"));
                NameServer names = new NameServer()
                        .serves(SERVICE, record(1, 0, first, "first.test"), record(2, 0, next, "next.test"))
                        .has("next.test", List.of("127.0.2.1"));
                Rig rig = start(names, protocol);
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(ask(client)).isEqualTo("next");
            names.has("first.test", List.of("127.0.1.1"));
            UpstreamPage.await(rig, List.of("127.0.1.1:" + first.port()));
            assertThat(count(client, 10, "first")).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void targetsChangeAndDnsFailsUnderLoadAndNoRequestFails(String protocol) throws Exception {
        try (Origin one = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"));
                Origin two = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"));
                NameServer names = new NameServer()
                        .serves(SERVICE, record(1, 1, one, "a.test"), record(1, 1, two, "b.test"))
                        .has("a.test", List.of("127.0.1.1"))
                        .has("b.test", List.of("127.0.2.1"))
                        .has("c.test", List.of("127.0.3.1", "127.0.3.2"));
                Rig rig = start(names, protocol);
                SteadyLoad load = new SteadyLoad(rig)) {
            UpstreamPage.await(rig, List.of("127.0.1.1:" + one.port(), "127.0.2.1:" + two.port()));
            load.goOnFor(50);
            names.serves(SERVICE, record(1, 1, two, "b.test"), record(1, 1, one, "c.test"));
            String[] later = {"127.0.2.1:" + two.port(), "127.0.3.1:" + one.port(), "127.0.3.2:" + one.port()};
            UpstreamPage.await(rig, List.of(later));
            load.goOnFor(50);
            names.be(Mood.SERVER_FAILURE);
            UpstreamPage.awaitSource(rig, "stale");
            rig.awaitMetric(1, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"srv\"");
            names.serves(SERVICE, record(1, 1, one, "a.test"));
            load.goOnFor(50);
            assertThat(UpstreamPage.endpoints(rig)).containsExactlyInAnyOrder(later);
            while (!UpstreamPage.read(rig).at("/sources/0/problem").asText().contains("SRV")) {
                LockSupport.parkNanos(5_000_000); // the address of a target may be asked for first
            }
            assertThat(UpstreamPage.read(rig).at("/sources/0/staleSeconds").asDouble())
                    .isNotNegative();
            names.be(Mood.WELL);
            UpstreamPage.await(rig, List.of("127.0.1.1:" + one.port()));
            UpstreamPage.awaitSource(rig, "fresh");
            rig.awaitMetric(0, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"srv\"");
            load.goOnFor(50);
            load.stop();
        }
    }

    @Test
    void withoutAnAnswerTheGatewayServesAndSaysThatThereIsNoEndpoint() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer();
                Rig rig = start(names, "http1");
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(ask(client)).isEqualTo("503");
            assertThat(rig.metric("gateway_upstream_endpoints", "upstream=\"app\"", "state=\"healthy\""))
                    .isZero();
            names.serves(SERVICE, record(0, 0, origin, "a.test")).has("a.test", List.of("127.0.1.1"));
            UpstreamPage.await(rig, List.of("127.0.1.1:" + origin.port()));
            assertThat(ask(client)).isEqualTo("ok");
            names.serves(SERVICE, "0 0 0 .");
            UpstreamPage.await(rig, List.of());
            assertThat(ask(client)).isEqualTo("503");
            UpstreamPage.awaitSource(rig, "fresh");
        }
    }
}
