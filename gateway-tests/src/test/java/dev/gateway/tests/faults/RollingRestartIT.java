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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Endpoints restart one after the other, each while the one before is still ejected, or unhealthy by its checks. No request
 * fails.
 */
@Timeout(120)
class RollingRestartIT {
    private static final int MOST = 200; // requests until an endpoint is ejected

    private final List<RestartedOrigin> origins = new ArrayList<>();
    private int sent;
    private String cookie = "";

    @TempDir
    private Path directory;

    private String yaml(String policy, boolean checks, boolean sessions) throws IOException {
        Path keys = Files.writeString(directory.resolve("keys"), "c2Vzc2lvbi1rZXktb2YtMzItYnl0ZXMtaXMtaGVyZSE=\n");
        String endpoints = origins.stream()
                .map(origin -> "{host: 127.0.0.1, port: " + origin.port() + "}")
                .collect(Collectors.joining(", "));
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - backendRefs: [{name: app}]
                        retry: {connectWait: 1h, budget: {percent: 0, minRetriesPerSecond: 0}}
                upstreams:
                  - name: app
                    loadBalancer: {policy: %s}
                    endpoints: [%s]
                    healthChecks: {outlierDetection: {baseEjectionTime: 1h, maxEjectionTime: 2h}%s}
                %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(
                        policy,
                        endpoints,
                        checks ? ", active: {path: /, interval: 100ms}" : "",
                        sessions ? "    sessionPersistence: {type: Cookie, keyFile: \"" + keys + "\"}" : "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | RoundRobin | none",
                "2 | LeastRequest | none",
                "2 | Random | none",
                "2 | PeakEwma | none",
                "2 | Hash, hash: [{header: x-user}] | none",
                "3 | RoundRobin | none",
                "3 | LeastRequest | none",
                "3 | Random | none",
                "3 | PeakEwma | none",
                "3 | Hash, hash: [{header: x-user}] | none",
                "2 | RoundRobin | checks",
                "2 | LeastRequest | checks",
                "2 | Random | checks",
                "2 | PeakEwma | checks",
                "2 | Hash, hash: [{header: x-user}] | checks",
                "3 | LeastRequest | checks",
                "2 | RoundRobin | sessions",
                "3 | RoundRobin | sessions",
                "2 | RoundRobin | checks and sessions",
                "3 | LeastRequest | checks and sessions"
            })
    void noRequestFailsWhileOneEndpointAfterTheOtherRestarts(int count, String policy, String more) throws Exception {
        boolean checks = more.contains("checks");
        for (int i = 0; i < count; i++) {
            origins.add(new RestartedOrigin(Behaviors.text("ok")).start());
        }
        try (Rig rig = Rig.start(yaml(policy, checks, more.contains("sessions")));
                Peer client = rig.connect(Peers.HTTP1)) {
            for (int i = 0; i < count; i++) {
                boolean out = restart(rig, client, i, checks);
                // Checks always find it. By latency, few requests go to an endpoint that has failed, so it may never
                // fail often enough.
                assertThat(out || (policy.equals("PeakEwma") && !checks)).isTrue();
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
     * Restarts an endpoint so slowly that it is out of service; returns whether it is. Those before it are ejected or unhealthy
     * still, unless they were needed.
     */
    private boolean restart(Rig rig, Peer client, int index, boolean checks) throws Exception {
        origins.get(index).stop();
        awaitNoConnection(rig, index);
        for (int i = 0;
                (i < MOST || checks) && !isOut(rig, index);
                i++) { // a check needs a while, however many requests
            send(client);
        }
        boolean out = isOut(rig, index);
        origins.get(index).start();
        return out;
    }

    private static boolean isOut(Rig rig, int index) throws Exception {
        return List.of("ejected", "unhealthy")
                .contains(rig.endpoint(index).at("/state").asText());
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
        boolean returns = !cookie.isEmpty() && sent % 3 != 0; // else a client without a session, so that all are asked
        stream.send(
                returns
                        ? Head.request(method, "/", "x-user", Integer.toString(sent), "cookie", cookie)
                        : Head.request(method, "/", "x-user", Integer.toString(sent)),
                true);
        Head response = stream.receiveFinal();
        assertThat(response.status()).as(method).isEqualTo(200);
        response.get("set-cookie").ifPresent(set -> cookie = set.substring(0, set.indexOf(';')));
        stream.receiveBody();
    }
}
