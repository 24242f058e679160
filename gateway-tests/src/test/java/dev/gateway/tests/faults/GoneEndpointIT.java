package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Without checks, requests leave an endpoint that is gone, and no endpoint that only takes long. */
@Timeout(60)
class GoneEndpointIT {
    /** SETTINGS without content, and its acknowledgement of the gateway's. */
    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0};

    /**
     * A process that is stopped answers no PING, but its kernel acknowledges what it is sent. So an HTTP/1.1 endpoint that
     * hangs is waited for, until the time for its answer is over.
     */
    @Test
    void aRequestLeavesAnEndpointThatAnswersNoPingAndNoneThatTakesLong() throws Exception {
        try (Origin other = Origin.start().on("/", Behaviors.text("ok")).on("/slow", Behaviors.text("ok"));
                Origin slow = Origin.start().on("/slow", Behaviors.silence());
                ServerSocket stopped = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                Rig rig = Rig.start(
                        """
                        listeners:
                          - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                        routes:
                          - rules:
                              - {matches: [{path: {value: /slow}}], backendRefs: [{name: slow}]}
                              - {backendRefs: [{name: app}]}
                        upstreams:
                          - name: app
                            protocol: h2c
                            loadBalancer: RoundRobin
                            endpoints: [{host: 127.0.0.1, port: %1$d}, {host: 127.0.0.1, port: %2$d}]
                          - name: slow
                            endpoints: [{host: 127.0.0.1, port: %3$d}, {host: 127.0.0.1, port: %2$d}]
                            loadBalancer: RoundRobin
                            timeouts: {responseHeaders: 13s}
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(stopped.getLocalPort(), other.port(), slow.port()));
                Peer client = rig.connect(Peers.H2C)) {
            List<PeerStream> late = ask(client, "/slow");
            List<PeerStream> moving = ask(client, "/");
            try (Socket connection = stopped.accept()) {
                connection.getOutputStream().write(SETTINGS);
                assertThat(statuses(moving)).containsExactly(200, 200);
            }
            assertThat(rig.endpoint(0).at("/state").asText()).isEqualTo("ejected");
            assertThat(statuses(late)).as("not sent again").containsExactlyInAnyOrder(200, 504);
        }
    }

    /** Sends a request to each of two endpoints, which take turns. */
    private static List<PeerStream> ask(Peer client, String path) throws Exception {
        List<PeerStream> asked = List.of(client.open(), client.open());
        for (PeerStream each : asked) {
            each.send(Head.request("GET", path), true);
        }
        return asked;
    }

    private static List<Integer> statuses(List<PeerStream> asked) throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (PeerStream each : asked) {
            statuses.add(each.receiveFinal().status());
            each.receiveBody();
        }
        return statuses;
    }
}
