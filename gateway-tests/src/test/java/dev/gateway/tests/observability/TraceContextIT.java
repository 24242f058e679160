package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Upstreams, and the access log, learn which trace a request is part of. */
class TraceContextIT {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00-" + TRACE + "-00f067aa0ba902b7-01";

    private static Head sent(Origin origin, Peer client, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", fields), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        stream.receiveBody();
        return origin.requests("/").get(origin.requests("/").size() - 1);
    }

    @ParameterizedTest
    @EnumSource
    void aTrustedClientsTraceGoesOn(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("trustedProxies: [127.0.0.1/32]")
                        .top("tracing: {mode: propagate}")
                        .start();
                Peer client = rig.connect(pairing)) {
            Head head = sent(origin, client, "traceparent", PARENT, "tracestate", "a=1");
            assertThat(head.all("traceparent")).containsExactly(PARENT);
            assertThat(head.all("tracestate")).containsExactly("a=1");
            assertThat(rig.awaitAccessLog(1).get(0))
                    .contains("\"traceId\":\"" + TRACE + "\",\"spanId\":\"00f067aa0ba902b7\"");
        }
    }

    @CrossPairingTest
    void aStrangersRequestBeginsATraceInEveryWayThatIsSpoken(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .top(
                                "tracing: {mode: propagate, propagators: [tracecontext, b3, b3multi], sampler: {ratio: 0}}")
                        .start();
                Peer client = rig.connect(pairing)) {
            Head head = sent(origin, client, "traceparent", PARENT, "tracestate", "a=1", "b3", "1");
            String parent = head.get("traceparent").orElseThrow();
            assertThat(parent).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-00").doesNotContain(TRACE);
            String trace = parent.substring(3, 35);
            String span = parent.substring(36, 52);
            assertThat(head.all("tracestate")).isEmpty();
            assertThat(head.all("b3")).containsExactly(trace + "-" + span + "-0");
            assertThat(head.all("x-b3-traceid")).containsExactly(trace);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"traceId\":\"" + trace + "\"");
        }
    }
}
