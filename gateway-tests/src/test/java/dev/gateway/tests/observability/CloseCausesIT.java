package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The metrics tell why connections to endpoints close. */
@Tag("jar")
@Timeout(60)
class CloseCausesIT {
    private static final List<String> CAUSES = List.of(
            "idle_timeout",
            "max_lifetime",
            "max_requests",
            "endpoint",
            "request",
            "tunnel",
            "address",
            "limit",
            "health_check",
            "drain");

    private static String yaml(int port) {
        StringBuilder routes = new StringBuilder();
        StringBuilder upstreams = new StringBuilder();
        for (String name : List.of("idle_timeout", "max_lifetime", "endpoint", "request", "tunnel", "drain")) {
            String timeouts =
                    switch (name) {
                        case "idle_timeout" -> "idle: 300ms";
                        case "max_lifetime" -> "maxLifetime: 300ms";
                        default -> "idle: 1h";
                    };
            routes.append("      - {matches: [{path: {value: /%1$s}}], backendRefs: [{name: %1$s}]}\n".formatted(name));
            upstreams.append("  - {name: %s, endpoints: [{host: 127.0.0.1, port: %d}], timeouts: {%s}}\n"
                    .formatted(name, port, timeouts));
        }
        return "listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]\nroutes:\n  - rules:\n"
                + routes
                + "upstreams:\n"
                + upstreams
                + "admin: {address: 127.0.0.1, port: 0}\naccessLog: {format: \"off\"}\n";
    }

    private static void get(GatewayJar gateway, String path) throws IOException {
        try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            stream.receiveBody();
        }
    }

    @Test
    void eachWayToEndHasItsCause() throws Exception {
        try (Origin origin = Origin.start()
                        .on("/endpoint", (stream, head) -> {
                            stream.receiveBody();
                            stream.send(Head.response(200, "content-length", "0", "connection", "close"), true);
                        })
                        .on("/request", (stream, head) -> {
                            stream.receiveBody();
                            stream.send(Head.response(200, "content-length", "1000"), false);
                            stream.send("some", false);
                            stream.peer().awaitClosed();
                        })
                        .on("/tunnel", WebSocket::echo)
                        .otherwise(Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(yaml(origin.port())).start()) {
            get(gateway, "/idle_timeout");
            get(gateway, "/max_lifetime");
            get(gateway, "/endpoint");
            try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/request"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                client.abort();
            }
            try (Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
                Handshake.open(client, "/tunnel");
            }
            get(gateway, "/drain");
            assertThat(gateway.post("/endpoints/drain/127.0.0.1:" + origin.port() + ":drain")
                            .statusCode())
                    .isEqualTo(200);

            Map<String, String> closed = new TreeMap<>();
            for (String upstream : List.of("idle_timeout", "max_lifetime", "endpoint", "request", "tunnel", "drain")) {
                gateway.await("a connection of " + upstream + " closes", () -> closes(gateway, upstream) == 1);
                closed.put(upstream, cause(gateway, upstream));
            }
            assertThat(closed).allSatisfy((upstream, cause) -> assertThat(cause).isEqualTo(upstream));
        }
    }

    private static double closes(GatewayJar gateway, String upstream) {
        try {
            return gateway.metric("gateway_upstream_connection_closed_total", "upstream=\"" + upstream + "\"");
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String cause(GatewayJar gateway, String upstream) throws Exception {
        for (String cause : CAUSES) {
            if (gateway.metric(
                            "gateway_upstream_connection_closed_total",
                            "upstream=\"" + upstream + "\"",
                            "cause=\"" + cause + "\"")
                    == 1) {
                return cause;
            }
        }
        return "none of these";
    }
}
