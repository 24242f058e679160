package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Endpoints that fail again and again get no requests for a while. */
class OutlierDetectionIT {
    private static final int FAILURES = 3;

    private static Behavior status(int status) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(status, "content-length", "0"), true);
        };
    }

    /** The first endpoint is the one that tests are about. */
    private static String yaml(String one, Origin other, String protocol, String ejection, String more) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    protocol: %3$s
                    loadBalancer: RoundRobin
                    endpoints:
                      - {%1$s}
                      - {host: 127.0.0.1, port: %2$d}
                    healthChecks: {outlierDetection: {consecutive5xx: %6$d, baseEjectionTime: %4$s, maxEjectionTime: 2h}}
                    %5$s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(one, other.port(), protocol, ejection, more, FAILURES);
    }

    private static String at(Origin origin) {
        return "host: 127.0.0.1, port: " + origin.port();
    }

    @ParameterizedTest
    @EnumSource
    void answersFrom500EjectAnEndpointUntilItsTimeIsOverWhateverIsReloaded(Pairing pairing) throws Exception {
        try (Origin bad = Origin.start().on("/", status(500));
                Origin good = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml(at(bad), good, pairing.upstream, "1h", ""));
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 2 * FAILURES; i++) { // they take turns
                send(client, "GET");
            }
            assertThat(bad.requests("/")).hasSize(FAILURES);
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
            assertThat(rig.endpoint(0).at("/ejections").asInt()).isEqualTo(1);
            assertThat(rig.endpoint(0).at("/ejectedForSeconds").asDouble()).isBetween(1.0, 3600.0);
            assertThat(rig.endpoint(1).at("/state").asText()).isEqualTo("healthy");
            assertThat(rig.endpoint(1).has("ejectedForSeconds")).isFalse();
            assertThat(rig.admin("/explain?path=/")).contains("state ejected", "state healthy");
            assertThat(rig.metric("gateway_upstream_endpoints", "state=\"ejected\""))
                    .isEqualTo(1);
            assertThat(rig.metric("gateway_upstream_ejections_total", "upstream=\"app\""))
                    .isEqualTo(1);

            rig.reload(yaml(at(bad), good, pairing.upstream, "1h", "timeouts: {connect: 3s}"));
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
            for (int i = 0; i < 10; i++) {
                assertThat(send(client, "GET")).isEqualTo(200);
            }
            assertThat(bad.requests("/")).hasSize(FAILURES);
            assertThat(rig.metric("gateway_upstream_ejections_total", "upstream=\"app\""))
                    .isEqualTo(1);
        }
    }

    @CrossPairingTest
    void anEndpointThatResetsRequestsIsEjectedToo(Pairing pairing) throws Exception {
        try (Origin bad = Origin.start().on("/", Behaviors.resetBeforeHead());
                Origin good = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml(at(bad), good, pairing.upstream, "1h", ""));
                Peer client = rig.connect(pairing)) {
            int failed = 0;
            for (int i = 0; i < 10 * FAILURES && failed < FAILURES; i++) {
                failed += send(client, "POST") == 502 ? 1 : 0; // which is not sent again
            }
            assertThat(failed).isEqualTo(FAILURES);
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
            for (int i = 0; i < 10; i++) {
                assertThat(send(client, "POST")).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H2"}) // where little is in buffers of the kernel
    void anEndpointThatDoesNotTakeUploadsIsEjected(Pairing pairing) throws Exception {
        Behavior deaf = (stream, head) -> stream.peer().awaitClosed();
        String timeouts = "timeouts: {responseHeaders: 2s}"; // since the last byte: long for whoever takes any
        try (Origin bad = Origin.start().on("/", deaf);
                Origin good = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml(at(bad), good, pairing.upstream, "1h", timeouts))) {
            // They take turns. Of a client that had not sent enough in time, nobody is to blame, so it may take more.
            for (int i = 0; i < 10 * FAILURES && !isEjected(rig); i++) {
                try (Peer client = rig.connect(pairing)) {
                    assertThat(upload(client)).isIn(200, 504);
                }
            }
            assertThat(isEjected(rig)).isTrue();
            try (Peer client = rig.connect(pairing)) {
                assertThat(upload(client)).isEqualTo(200);
            }
        }
    }

    private static boolean isEjected(Rig rig) throws Exception {
        return rig.endpoint(0).at("/state").asText().equals("ejected");
    }

    /** Sends much while it waits for the answer, whoever takes it. */
    private static int upload(Peer client) throws Exception {
        PeerStream stream = client.open();
        Thread sending = new Thread(() -> {
            try {
                stream.send(new byte[1 << 20], true);
            } catch (IOException e) {
                // not taken
            }
        });
        stream.send(Head.request("POST", "/", "content-length", Integer.toString(1 << 20)), false);
        sending.start();
        int status = stream.receiveFinal().status();
        client.abort();
        sending.join();
        return status;
    }

    @Test
    void callsOfGrpcThatAnEndpointFailsEjectIt() throws Exception {
        Behavior failing = (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-type", "application/grpc"), false);
            stream.send("some", false);
            stream.sendTrailers("grpc-status", "14", "grpc-message", "not now");
        };
        try (Origin bad = Origin.start().on("/", failing);
                Origin good = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml(at(bad), good, "h2c", "1h", ""));
                Peer client = rig.connect(Peers.H2C)) {
            for (int i = 0; i < 2 * FAILURES; i++) { // they take turns
                assertThat(send(client, "POST")).isEqualTo(200);
            }
            assertThat(bad.requests("/")).hasSize(FAILURES);
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
        }
    }

    @Test
    void anEjectedEndpointReturnsByItself() throws Exception {
        AtomicBoolean well = new AtomicBoolean();
        try (Origin origin = Origin.start().on("/", (stream, head) -> status(well.get() ? 201 : 503)
                        .serve(stream, head));
                Origin other = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml(at(origin), other, "http1", "100ms", ""));
                Peer client = rig.connect(Peers.HTTP1)) {
            for (int i = 0; i < 2 * FAILURES; i++) {
                send(client, "GET");
            }
            well.set(true);
            rig.awaitStates("healthy");
            assertThat(rig.endpoint(0).at("/ejections").asInt()).isEqualTo(1);
            assertThat(send(client, "GET") + send(client, "GET")).isEqualTo(401);
        }
    }

    @Test
    void anEndpointThatCannotBeReachedCostsNoRequestAndIsEjected() throws Exception {
        try (Origin good = Origin.start().on("/", status(200));
                Rig rig = Rig.start(yaml("unix: nobody.sock", good, "http1", "1h", ""));
                Peer client = rig.connect(Peers.HTTP1)) {
            for (int i = 0; i < 2 * FAILURES; i++) {
                assertThat(send(client, "POST")).isEqualTo(200);
            }
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
            assertThat(rig.metric("gateway_upstream_connect_failures_total", "upstream=\"app\""))
                    .isEqualTo(FAILURES);
        }
    }

    private static int send(Peer client, String method) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, "/", "content-length", "0"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
