package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The log tells when an endpoint is no longer ejected, and whether it gets requests then. */
@Tag("jar")
@Timeout(60)
class EndpointReturnsIT {
    private static Behavior answers(AtomicInteger status) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(status.get(), "content-length", "0"), true);
        };
    }

    private static GatewayJar start(Origin bad, Origin good) throws Exception {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams:
                          - name: app
                            loadBalancer: RoundRobin
                            endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                            healthChecks:
                              active: {path: /healthz, interval: 100ms, unhealthyThreshold: 1, healthyThreshold: 1}
                              outlierDetection: {consecutive5xx: 3, baseEjectionTime: 1s}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: "off"}
                        """
                                .formatted(bad.port(), good.port()))
                .start();
    }

    private static void failThrice(GatewayJar gateway) throws Exception {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            for (int i = 0; i < 6; i++) { // they take turns
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                stream.receiveFinal();
                stream.receiveBody();
            }
        }
        gateway.awaitLog("has failed too often and is ejected");
    }

    @Test
    void oneThatIsStillUnhealthyIsNotSaidToGetRequests() throws Exception {
        AtomicInteger health = new AtomicInteger(200);
        try (Origin bad = Origin.start().on("/healthz", answers(health)).on("/", answers(new AtomicInteger(500)));
                Origin good = Origin.start().otherwise(answers(new AtomicInteger(200)));
                GatewayJar gateway = start(bad, good)) {
            failThrice(gateway);
            health.set(503);
            gateway.awaitLog("is no longer ejected, but unhealthy, and so gets no requests");
            assertThat(gateway.log()).contains("is unhealthy: answered 503").doesNotContain("gets requests again");
            health.set(200);
            gateway.awaitLog("is healthy again");
        }
    }

    @Test
    void oneThatIsHealthyIs() throws Exception {
        AtomicInteger well = new AtomicInteger(200);
        try (Origin bad = Origin.start().on("/healthz", answers(well)).on("/", answers(new AtomicInteger(500)));
                Origin good = Origin.start().otherwise(answers(well));
                GatewayJar gateway = start(bad, good)) {
            failThrice(gateway);
            gateway.awaitLog("127.0.0.1:" + bad.port() + " of upstream app gets requests again");
        }
    }
}
