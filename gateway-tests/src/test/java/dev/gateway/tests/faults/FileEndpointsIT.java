package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Endpoints are what a file lists, as soon as it does. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class FileEndpointsIT {
    @TempDir
    Path directory;

    private Path list() {
        return directory.resolve("endpoints.yaml");
    }

    private String yaml(Pairing pairing) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - {name: app, protocol: %s, loadBalancer: RoundRobin, endpoints: [{file: "%s"}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 2s}
                """
                .formatted(pairing.upstream, list());
    }

    private Rig start(Pairing pairing) throws Exception {
        return Rig.start(yaml(pairing));
    }

    private static String entries(Origin origin, int first, int count) {
        StringBuilder yaml = new StringBuilder("# made by a test\n");
        for (int i = first; i < first + count; i++) {
            yaml.append("- {host: 127.0.0.")
                    .append(i)
                    .append(", port: ")
                    .append(origin.port())
                    .append("}\n");
        }
        return yaml.toString();
    }

    private static List<String> addresses(Origin origin, int first, int count) {
        return IntStream.range(first, first + count)
                .mapToObj(i -> "127.0.0." + i + ":" + origin.port())
                .toList();
    }

    private void writeInPlace(String text) throws IOException {
        Files.writeString(list(), text);
    }

    private void rename(String text) throws IOException {
        Path next = Files.writeString(directory.resolve("next"), text);
        Files.move(next, list(), StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void whatAFileAddsBesideOtherEndpointsStartsSlowlyButNotWhenTheGatewayStarts() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"))) {
            writeInPlace(entries(origin, 2, 1));
            String beside = "slowStart: 10h, endpoints: [{host: 127.0.0.1, port: " + origin.port() + "}, {file:";
            try (Rig rig = Rig.start(yaml(Pairing.H1_TO_H1).replace("endpoints: [{file:", beside))) {
                UpstreamPage.await(rig, addresses(origin, 1, 2));
                assertThat(rig.endpoint(0).has("slowStartPercent")).isFalse();
                assertThat(rig.endpoint(1).has("slowStartPercent")).isFalse();
                writeInPlace(entries(origin, 2, 2));
                UpstreamPage.await(rig, addresses(origin, 1, 3));
                assertThat(rig.endpoint(1).has("slowStartPercent")).isFalse();
                assertThat(rig.endpoint(2).at("/slowStartPercent").asInt()).isEqualTo(10);
            }
        }
    }

    private static int ask(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @ParameterizedTest
    @EnumSource
    void aFileChangesUnderLoadAndNoRequestFails(Pairing pairing) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"))) {
            writeInPlace(entries(origin, 1, 3));
            try (Rig rig = start(pairing);
                    SteadyLoad load = new SteadyLoad(rig)) {
                UpstreamPage.await(rig, addresses(origin, 1, 3));
                load.goOnFor(50);
                writeInPlace(entries(origin, 3, 4)); // one stays
                UpstreamPage.await(rig, addresses(origin, 3, 4));
                load.goOnFor(50);
                rename(entries(origin, 20, 2));
                UpstreamPage.await(rig, addresses(origin, 20, 2));
                load.goOnFor(50);

                rename(entries(origin, 30, 1) + "- {host: 127.0.0.31, prt: 80}\n");
                UpstreamPage.awaitSource(rig, "stale");
                load.goOnFor(50);
                assertThat(UpstreamPage.endpoints(rig)).containsExactlyInAnyOrderElementsOf(addresses(origin, 20, 2));
                String mistake = list() + ":3:22: unknown key 'prt' in an endpoint: did you mean 'port'?";
                assertThat(UpstreamPage.read(rig).at("/sources/0/problem").asText())
                        .isEqualTo(mistake);
                assertThat(rig.admin("/ready")).contains("upstream app: keeping the previous endpoints: " + mistake);
                rig.awaitMetric(1, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"file\"");

                writeInPlace(entries(origin, 30, 2));
                UpstreamPage.await(rig, addresses(origin, 30, 2));
                UpstreamPage.awaitSource(rig, "fresh");
                assertThat(rig.admin("/ready")).doesNotContain("previous");
                rig.awaitMetric(0, "gateway_upstream_sources_stale", "upstream=\"app\"", "source=\"file\"");
                assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);
                load.goOnFor(50);
                load.stop();
            }
        }
    }

    @CrossPairingTest
    void anEmptyListMeansThatThereAreNoEndpoints(Pairing pairing) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"))) {
            writeInPlace("[]\n");
            try (Rig rig = start(pairing);
                    Peer client = rig.connect(pairing.client)) {
                assertThat(ask(client)).isEqualTo(503);
                rig.awaitMetric(1, "gateway_downstream_requests_total", "cause=\"no_healthy_endpoint\"");
                assertThat(rig.admin("/failures")).contains("app has no endpoints: file:", " has an empty list");
                rename(entries(origin, 1, 1));
                UpstreamPage.await(rig, addresses(origin, 1, 1));
                assertThat(ask(client)).isEqualTo(200);
                rename("[]");
                UpstreamPage.await(rig, List.of());
                assertThat(ask(client)).isEqualTo(503);
                assertThat(rig.admin("/stats")).contains("0 of 0 healthy");
            }
        }
    }

    @Test
    void aReloadReadsTheFileAtOnceAndIsRefusedIfItCannot() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"))) {
            writeInPlace(entries(origin, 1, 1));
            try (Rig rig = start(Pairing.H1_TO_H1)) {
                rename("[{\"host\": \"127.0.0.2\", \"port\": " + origin.port() + "}]"); // JSON
                assertThat(rig.post("/reload").statusCode()).isEqualTo(200);
                assertThat(UpstreamPage.endpoints(rig)).containsExactlyElementsOf(addresses(origin, 2, 1));
                Files.delete(list());
                HttpResponse<String> refused = rig.post("/reload");
                assertThat(refused.statusCode()).isNotEqualTo(200);
                assertThat(refused.body()).contains("file: there is no file " + list());
                assertThat(UpstreamPage.endpoints(rig)).containsExactlyElementsOf(addresses(origin, 2, 1));
            }
        }
    }

    @Test
    void aGatewayDoesNotStartWithoutTheFile() {
        assertThatThrownBy(() -> start(Pairing.H1_TO_H1).close()).hasMessageContaining("there is no file " + list());
    }

    @Test
    void aWeightBelongsToTheEntryAndNamesInTheFileAreFollowed() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"))) {
            writeInPlace("- {host: localhost, port: " + origin.port() + ", weight: 3}\n" + "- {host: 127.0.0.9, port: "
                    + origin.port() + "}\n");
            String entries = "endpoints: [{file: \"" + list() + "\", weight: 20, zone: eu-1}]";
            try (Rig rig = Rig.start(yaml(Pairing.H1_TO_H1)
                            .replaceAll("endpoints: \\[.*?\\]", Matcher.quoteReplacement(entries)));
                    Peer client = rig.connect(Peers.HTTP1)) {
                JsonNode shown = UpstreamPage.read(rig).get("endpoints");
                assertThat(shown.findValuesAsText("source")).containsOnly("file:" + list());
                assertThat(shown.findValuesAsText("zone")).containsOnly("eu-1");
                double weight = 0;
                for (JsonNode each : shown) {
                    weight += each.get("weight").asDouble();
                }
                assertThat(weight).isEqualTo(20);
                assertThat(ask(client)).isEqualTo(200);
            }
        }
    }
}
