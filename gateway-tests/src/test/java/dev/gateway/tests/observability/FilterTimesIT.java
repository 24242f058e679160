package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.nio.file.Files;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How long filters take is measured by their type, if the configuration wants it. */
class FilterTimesIT {
    private static final String METRIC = "gateway_filter_duration_seconds";

    @ParameterizedTest
    @EnumSource
    void callsAreCountedByTypeAndPhaseFromTheReloadOn(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("a text"));
                Rig rig = Rig.to(origin, pairing)
                        .rule(
                                "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-a, value: b}]}},"
                                        + " {type: Compression, compression: {minSize: 1B}}]")
                        .top("metrics: {filters: false}")
                        .start();
                Peer client = rig.connect(pairing)) {
            get(client);
            assertThat(rig.admin("/metrics")).doesNotContain(METRIC);
            rig.reload(Files.readString(rig.file()).replace("filters: false", "filters: true"));
            get(client);
            get(client);
            rig.awaitMetric(2, METRIC + "_count", "filter", "RequestHeaderModifier", "phase", "request");
            rig.awaitMetric(2, METRIC + "_count", "filter", "Compression", "phase", "response");
            rig.reload(Files.readString(rig.file()).replace("x-a", "x-b"));
            get(client);
            rig.awaitMetric(3, METRIC + "_count", "filter", "RequestHeaderModifier", "phase", "request");
            assertThat(rig.admin("/metrics"))
                    .containsPattern(METRIC + "_count\\{.*filter=\"Compression\",phase=\"body\"");
        }
    }

    private static void get(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "accept-encoding", "gzip"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        stream.receiveBody();
    }
}
