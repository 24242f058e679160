package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.RestartedOrigin;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Endpoints restart one after the other, each while the one before is still ejected. No request fails. */
@Timeout(60)
class RollingRestartIT {
    private static final int MOST = 200; // requests until an endpoint is ejected

    private final List<RestartedOrigin> origins = new ArrayList<>();
    private int sent;

    private String yaml(String policy) {
        String endpoints = origins.stream()
                .map(origin -> "{host: 127.0.0.1, port: " + origin.port() + "}")
                .collect(Collectors.joining(", "));
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}], retry: {budget: {percent: 0, minRetriesPerSecond: 0}}}]}]
                upstreams:
                  - name: app
                    loadBalancer: {policy: %s}
                    endpoints: [%s]
                    healthChecks: {outlierDetection: {baseEjectionTime: 1h, maxEjectionTime: 2h}}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(policy, endpoints);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | RoundRobin",
                "2 | LeastRequest",
                "2 | Random",
                "2 | PeakEwma",
                "2 | Hash, hash: [{header: x-user}]",
                "3 | LeastRequest"
            })
    void noRequestFailsWhileOneEndpointAfterTheOtherRestarts(int count, String policy) throws Exception {
        for (int i = 0; i < count; i++) {
            origins.add(new RestartedOrigin(Behaviors.text("ok")).start());
        }
        try (Rig rig = Rig.start(yaml(policy));
                Peer client = rig.connect(Peers.HTTP1)) {
            for (int i = 0; i < count; i++) {
                boolean ejected = restart(rig, client, i);
                // By latency, few requests go to an endpoint that has failed, so it may never fail often enough.
                assertThat(ejected || policy.equals("PeakEwma")).isTrue();
            }
            assertThat(rig.metric("gateway_downstream_requests_total", "listener=\"clear\"", "code=\"200\""))
                    .isEqualTo(sent);
        } finally {
            for (RestartedOrigin origin : origins) {
                origin.close();
            }
        }
    }

    /**
     * Restarts an endpoint so slowly that it is ejected; returns whether it is. Those before it are ejected still, unless they
     * were needed.
     */
    private boolean restart(Rig rig, Peer client, int index) throws Exception {
        origins.get(index).stop();
        awaitNoConnection(rig, index);
        for (int i = 0; i < MOST && !isEjected(rig, index); i++) {
            send(client);
        }
        boolean ejected = isEjected(rig, index);
        origins.get(index).start();
        return ejected;
    }

    private static boolean isEjected(Rig rig, int index) throws Exception {
        return rig.endpoint(index).at("/state").asText().equals("ejected");
    }

    /** Waits until the gateway knows that the connections are closed: a POST on one of them would be lost. */
    private static void awaitNoConnection(Rig rig, int index) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (rig.endpoint(index).at("/idle").asInt() > 0) {
            if (System.nanoTime() > deadline) {
                throw new IOException("connections are kept: " + rig.endpoint(index));
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    private void send(Peer client) throws IOException {
        sent++;
        String method = sent % 2 == 0 ? "GET" : "POST";
        PeerStream stream = client.open();
        stream.send(Head.request(method, "/", "x-user", Integer.toString(sent)), true);
        assertThat(stream.receiveFinal().status()).as(method).isEqualTo(200);
        stream.receiveBody();
    }
}
