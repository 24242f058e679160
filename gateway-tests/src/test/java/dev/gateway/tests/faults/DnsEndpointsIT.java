package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every address of a name is an endpoint, as DNS says at the time. */
@Timeout(120)
class DnsEndpointsIT {
    private static Rig start(NameServer names, String protocol, int port) throws Exception {
        return start(names, "dns", protocol, port);
    }

    private static Rig start(NameServer names, String key, String protocol, int port) throws Exception {
        return startWith(names, protocol, "endpoints: [{%s: app.test, port: %d}]".formatted(key, port));
    }

    private static Rig startWith(NameServer names, String protocol, String endpoints) throws Exception {
        return Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - {name: app, protocol: %s, loadBalancer: RoundRobin, %s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                resolver: {nameServers: ["127.0.0.1:%d"]}
                drain: {timeout: 2s}
                """
                        .formatted(protocol, endpoints, names.port()));
    }

    private static List<String> addresses(int first, int count) {
        return IntStream.range(first, first + count)
                .mapToObj(i -> "127.0." + i / 200 + "." + (1 + i % 200))
                .toList();
    }

    /** Returns the endpoints that the gateway shows, and that have an idle connection if that is asked for. */
    private static Set<String> endpoints(Rig rig, boolean used) throws Exception {
        Set<String> hosts = new TreeSet<>();
        for (JsonNode each :
                new ObjectMapper().readTree(rig.admin("/upstreams")).at("/upstreams/0/endpoints")) {
            if (!used || each.get("idle").asInt() > 0) {
                hosts.add(each.get("endpoint").asText().replaceAll(":.*", ""));
            }
        }
        return hosts;
    }

    private static void await(Rig rig, List<String> wanted) throws Exception {
        while (!endpoints(rig, false).equals(new TreeSet<>(wanted))) {
            LockSupport.parkNanos(5_000_000); // the test's timeout ends this
        }
    }

    private static int ask(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head.status();
    }

    @ParameterizedTest
    @CsvSource({"dns, http1, 3", "dns, h2c, 3", "dns, http1, 50", "dns, h2c, 50", "host, http1, 3", "host, h2c, 3"})
    void requestsReachAllAddresses(String key, String protocol, int count) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses(0, count));
                Rig rig = start(names, key, protocol, origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            await(rig, addresses(0, count));
            for (int i = 0; i < 2 * count; i++) {
                assertThat(ask(client)).isEqualTo(200);
            }
            assertThat(endpoints(rig, true)).hasSize(count);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "dns"})
    void whatDnsAddsBesideOtherEndpointsStartsSlowlyButNotWhenTheGatewayStarts(String key) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses(0, 2));
                Rig rig = startWith(
                        names,
                        "http1",
                        "slowStart: 10h, endpoints: [{host: 127.0.9.1, port: %d}, {%s: app.test, port: %d}]"
                                .formatted(origin.port(), key, origin.port()))) {
            await(rig, List.of("127.0.9.1", "127.0.0.1", "127.0.0.2"));
            assertThat(slowly(rig)).isEmpty();
            names.has("app.test", addresses(0, 3));
            await(rig, List.of("127.0.9.1", "127.0.0.1", "127.0.0.2", "127.0.0.3"));
            assertThat(slowly(rig)).containsExactly("127.0.0.3");
        }
    }

    /** Returns the endpoints that start slowly. */
    private static Set<String> slowly(Rig rig) throws Exception {
        Set<String> hosts = new TreeSet<>();
        for (JsonNode each :
                new ObjectMapper().readTree(rig.admin("/upstreams")).at("/upstreams/0/endpoints")) {
            if (each.has("slowStartPercent")) {
                hosts.add(each.get("endpoint").asText().replaceAll(":.*", ""));
            }
        }
        return hosts;
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void addressesComeAndGoUnderLoadAndNoRequestFails(String protocol) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses(0, 3));
                Rig rig = start(names, protocol, origin.port());
                SteadyLoad load = new SteadyLoad(rig)) {
            await(rig, addresses(0, 3));
            load.goOnFor(50);
            names.has("app.test", addresses(2, 3)); // one stays
            await(rig, addresses(2, 3));
            load.goOnFor(50);
            names.be(Mood.SERVER_FAILURE);
            load.goOnFor(200);
            rig.awaitMetric(1, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"dns\"");
            names.has("app.test", addresses(10, 2));
            load.goOnFor(50);
            assertThat(endpoints(rig, false)).containsExactlyInAnyOrderElementsOf(addresses(2, 3));
            names.be(Mood.WELL);
            await(rig, addresses(10, 2));
            rig.awaitMetric(0, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"dns\"");
            load.goOnFor(50);
            load.stop();
        }
    }

    @Test
    void aHostWithOneAddressIsCalledByItsName() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses(0, 2));
                Rig rig = start(names, "host", "http1", origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            await(rig, addresses(0, 2));
            names.has("app.test", addresses(1, 1));
            await(rig, List.of("app.test"));
            assertThat(ask(client)).isEqualTo(200);
        }
    }

    @Test
    void endpointsOfOneFamilyStayWhileDnsAnswersForTheOtherAlone() throws Exception {
        List<String> addresses = new ArrayList<>(addresses(0, 3));
        addresses.addAll(List.of("2001:db8::1", "2001:db8::2"));
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses);
                Rig rig = start(names, "http1", origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            await(rig, addresses(0, 3));
            names.failForIpv4(true);
            int before = names.answered();
            while (names.answered() < before + 6) { // both families, three times
                LockSupport.parkNanos(5_000_000); // the test's timeout ends this
            }
            assertThat(endpoints(rig, false)).containsExactlyInAnyOrderElementsOf(addresses(0, 3));
            assertThat(ask(client)).isEqualTo(200);
            names.has("app.test", addresses(1, 3));
            names.failForIpv4(false);
            await(rig, addresses(1, 3));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {300})
    void manyAddressesAreManyEndpoints(int count) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", addresses(0, count));
                Rig rig = start(names, "http1", origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            await(rig, addresses(0, count));
            for (int i = 0; i < count; i++) {
                assertThat(ask(client)).isEqualTo(200);
            }
            assertThat(endpoints(rig, true)).hasSize(count);
        }
    }
}
