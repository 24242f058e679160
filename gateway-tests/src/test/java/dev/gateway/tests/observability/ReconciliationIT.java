package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Access log and metrics both tell of every exchange once, and of the same ones. */
class ReconciliationIT {
    @ParameterizedTest
    @EnumSource
    void logAndMetricsAgreeWithWhatWasSent(Pairing pairing) throws Exception {
        try (Origin origin =
                        Origin.start().on("/ok", Behaviors.text("hello")).on("/reset", Behaviors.resetBeforeHead());
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 12; i++) {
                assertThat(send(client, "GET", "/ok")).isEqualTo(200);
            }
            for (int i = 0; i < 5; i++) {
                assertThat(send(client, "POST", "/ok")).isEqualTo(200);
            }
            for (int i = 0; i < 4; i++) {
                assertThat(send(client, "GET", "/missing")).isEqualTo(404);
            }
            for (int i = 0; i < 3; i++) {
                assertThat(send(client, "POST", "/reset")).isEqualTo(502);
            }

            List<String> log = rig.awaitAccessLog(24);
            assertThat(log).hasSize(24);
            assertThat(log).filteredOn(line -> line.contains("\"status\":200")).hasSize(17);
            assertThat(log).filteredOn(line -> line.contains("\"status\":404")).hasSize(4);
            assertThat(log)
                    .filteredOn(line -> line.contains("\"upstream_reset_before_headers\""))
                    .hasSize(3);
            assertThat(log).noneMatch(line -> line.contains("unknown"));

            String requests = "gateway_downstream_requests_total";
            assertThat(rig.metric(requests)).isEqualTo(24);
            assertThat(rig.metric(requests, "code=\"200\"", "method=\"GET\"")).isEqualTo(12);
            assertThat(rig.metric(requests, "code=\"200\"", "method=\"POST\"")).isEqualTo(5);
            assertThat(rig.metric(requests, "code=\"404\"")).isEqualTo(4);
            assertThat(rig.metric(requests, "code=\"502\"", "cause=\"upstream_reset_before_headers\""))
                    .isEqualTo(3);
            assertThat(rig.metric("gateway_downstream_request_duration_seconds_count"))
                    .isEqualTo(24);
            assertThat(rig.metric("gateway_downstream_connections_total")).isEqualTo(1);
            assertThat(rig.metric("gateway_downstream_connections_active")).isEqualTo(1);
            assertThat(rig.metric("gateway_accesslog_dropped_total")).isZero();
            // Reading changes nothing.
            assertThat(rig.metric(requests)).isEqualTo(24);
        }
    }

    private static int send(Peer client, String method, String path) throws Exception {
        PeerStream stream = client.open();
        stream.send(
                Head.request(method, path, "content-length", method.equals("GET") ? "0" : "2"), method.equals("GET"));
        if (!method.equals("GET")) {
            stream.send("hi", true);
        }
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
