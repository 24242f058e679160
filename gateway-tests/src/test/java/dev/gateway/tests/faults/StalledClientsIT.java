package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Hoarders;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that reads nothing keeps all connections of an upstream busy, while others ask for something. */
@Timeout(120)
class StalledClientsIT {
    private static final int CONNECTIONS = 8;
    private static final byte[] PART = new byte[64 * 1024];

    /** Otherwise the request would wait until the time for a connection is over. */
    @Test
    void whoWaitsForAnUpstreamGetsAConnectionOfAClientThatReadsNothing() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok")).on("/endless", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200), false);
                    while (true) {
                        stream.send(PART, false); // until the gateway ends it
                    }
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {responseWriteIdle: 10m}")
                        .upstream("circuitBreaker: {maxConnections: " + CONNECTIONS + "}, timeouts: {poolAcquire: 30s}")
                        .start()) {
            try (Hoarders hoarders = new Hoarders(rig.port());
                    Peer client = rig.connect(Pairing.H1_TO_H1)) {
                hoarders.streams(CONNECTIONS, "/endless", 0);
                rig.awaitMetric(CONNECTIONS, "gateway_upstream_connections_active", "protocol=\"http1\"");
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
                double cut;
                while ((cut = rig.metric("gateway_downstream_requests_total", "cause=\"overload\"")) == 0) {
                    Thread.sleep(20); // it may be counted after the answer; the test's timeout interrupts it
                }
                assertThat(cut).as("not all of them").isLessThan(CONNECTIONS);
            }
        }
    }
}
