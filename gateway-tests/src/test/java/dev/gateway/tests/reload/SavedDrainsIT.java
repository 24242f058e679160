package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An endpoint that an operator has taken out of service gets no request from the process that follows, either. */
@Timeout(120)
class SavedDrainsIT {
    private static final int REQUESTS = 6;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path directory;

    private Rig start(Pairing pairing, int one, int two) throws IOException {
        return Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - name: app
                    protocol: %s
                    loadBalancer: RoundRobin
                    endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                admin: {address: 127.0.0.1, port: 0}
                stateDirectory: %s
                """
                        .formatted(pairing.upstream, one, two, directory.resolve("state")));
    }

    private static void requestsReach(String wanted, Rig rig, Pairing pairing) throws Exception {
        try (Peer client = rig.connect(pairing)) {
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(ask(client)).isEqualTo(wanted);
            }
        }
    }

    private static String ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        Head head = stream.receiveFinal();
        return head.status() + " " + stream.receiveBody();
    }

    private static void act(Rig rig, int port, String action) throws Exception {
        assertThat(rig.post("/endpoints/app/127.0.0.1:" + port + ":" + action).statusCode())
                .isEqualTo(200);
    }

    @CrossPairingTest
    void afterARestartADrainedEndpointGetsNoRequest(Pairing pairing) throws Exception {
        try (Origin one = Origin.start().on("/", Behaviors.text("one"));
                Origin two = Origin.start().on("/", Behaviors.text("two"))) {
            try (Rig rig = start(pairing, one.port(), two.port())) {
                act(rig, two.port(), "drain");
            }
            try (Rig rig = start(pairing, one.port(), two.port())) {
                requestsReach("200 one", rig, pairing);
                rig.awaitStates("healthy", "draining");
                act(rig, two.port(), "undrain");
                act(rig, one.port(), "drain");
            }
            try (Rig rig = start(pairing, one.port(), two.port())) {
                requestsReach("200 two", rig, pairing);
            }
        }
    }

    /** Two processes run, as during a hand-over. */
    @Test
    void aProcessThatTakesOverKnowsWhatTheFormerOneHasDrained() throws Exception {
        Pairing pairing = Pairing.H1_TO_H1;
        try (Origin one = Origin.start().on("/", Behaviors.text("one"));
                Origin two = Origin.start().on("/", Behaviors.text("two"));
                Rig former = start(pairing, one.port(), two.port())) {
            act(former, two.port(), "drain");
            try (Rig next = start(pairing, one.port(), two.port())) {
                requestsReach("200 one", next, pairing);
                act(next, two.port(), "undrain");
                act(next, one.port(), "drain");
                former.stop();
                requestsReach("200 two", next, pairing);
            }
            try (Rig rig = start(pairing, one.port(), two.port())) {
                requestsReach("200 two", rig, pairing);
            }
        }
    }

    private Rig start(NameServer names, int port) throws IOException {
        return Rig.start(
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, loadBalancer: RoundRobin, endpoints: [{dns: app.test, port: %d}]}]
                admin: {address: 127.0.0.1, port: 0}
                resolver: {nameServers: ["127.0.0.1:%d"]}
                stateDirectory: %s
                """
                        .formatted(port, names.port(), directory.resolve("state")));
    }

    @Test
    void anEndpointThatDnsTellsOnlyLaterStillDrains() throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().has("app.test", List.of("127.0.0.1", "127.0.0.2"))) {
            try (Rig rig = start(names, origin.port())) {
                awaitUpstreams(rig, "127.0.0.2");
                act(rig, origin.port(), "drain");
            }
            names.be(Mood.SERVER_FAILURE);
            try (Rig rig = start(names, origin.port())) {
                awaitUpstreams(rig, "stale");
                names.be(Mood.WELL);
                awaitUpstreams(rig, "127.0.0.2");
                rig.awaitStates("draining", "healthy");
            }
        }
    }

    private static void awaitUpstreams(Rig rig, String wanted) throws Exception {
        while (!rig.admin("/upstreams").contains(wanted)) {
            LockSupport.parkNanos(5_000_000); // the test's timeout ends this
        }
    }
}
