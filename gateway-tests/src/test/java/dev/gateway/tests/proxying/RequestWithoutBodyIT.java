package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An HTTP/1.1 upstream sees the length of an empty body only where the client or the method calls for one. */
@Tag("jar")
@Timeout(60)
class RequestWithoutBodyIT {
    private static List<String> lengths(Peers protocol, GatewayJar gateway, Origin origin, Head request)
            throws Exception {
        try (Peer client = protocol.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(request, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
        }
        List<Head> received = origin.requests(request.path());
        return received.get(received.size() - 1).all("content-length");
    }

    @Test
    void onlyWhoExpectsContentIsToldThatThereIsNone() throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text(""));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(origin.port()))
                        .start()) {
            for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
                for (String method : List.of("GET", "DELETE", "OPTIONS")) {
                    assertThat(lengths(protocol, gateway, origin, Head.request(method, "/" + method)))
                            .as(protocol + " " + method)
                            .isEmpty();
                }
                assertThat(lengths(protocol, gateway, origin, Head.request("POST", "/POST")))
                        .as(protocol + " POST")
                        .containsExactly("0");
                assertThat(lengths(protocol, gateway, origin, Head.request("GET", "/said", "content-length", "0")))
                        .as(protocol + " GET that says so")
                        .containsExactly("0");
            }
        }
    }
}
