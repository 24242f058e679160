package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What upstreams and clients see of each other's fields. */
class ForwardedHeadIT {
    /** HTTP/2 has fewer such fields: a message with those of HTTP/1.1 is malformed. */
    @ParameterizedTest
    @EnumSource
    void fieldsForTheGatewayAloneStayHere(Pairing pairing) throws Exception {
        List<String> response = new ArrayList<>(List.of("x-end", "b", "proxy-authenticate", "Basic realm=\"a\""));
        if (!pairing.upstreamIsHttp2()) {
            response.addAll(List.of("connection", "x-private", "x-private", "a", "keep-alive", "timeout=5"));
        }
        List<String> request = new ArrayList<>(List.of("x-end", "b", "proxy-authorization", "Basic YTpi"));
        if (!pairing.client.isHttp2()) {
            request.addAll(List.of("connection", "X-Private, keep-alive", "x-private", "a", "keep-alive", "timeout=5"));
            request.addAll(List.of("proxy-connection", "keep-alive", "te", "gzip"));
        }
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, response.toArray(new String[0])), true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", request.toArray(new String[0])), true);
            Head received = stream.receiveFinal();
            assertThat(received.status()).isEqualTo(200);
            assertForwarded(request, origin.requests("/").get(0), "the request");
            assertForwarded(response, received, "the response");
        }
    }

    private static void assertForwarded(List<String> sent, Head received, String what) {
        for (int i = 0; i < sent.size(); i += 2) {
            String name = sent.get(i);
            List<String> values = received.all(name);
            if (name.equals("x-end")) {
                assertThat(values).as(name + " of " + what).containsExactly("b");
            } else {
                // Each hop may have a Connection and a Keep-Alive of its own.
                assertThat(values).as(name + " of " + what).doesNotContain(sent.get(i + 1));
                assertThat(values.isEmpty() || name.equals("connection") || name.equals("keep-alive"))
                        .as(name + " of " + what + " is there: " + values)
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theUpstreamLearnsWhoAsked(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            // A client that nobody trusts cannot say who it is.
            stream.send(
                    Head.request(
                            "GET",
                            "/",
                            "host",
                            "shop.test",
                            "x-forwarded-for",
                            "203.0.113.9",
                            "x-forwarded-proto",
                            "https",
                            "via",
                            "1.1 somebody"),
                    true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            Head seen = origin.requests("/").get(0);
            assertThat(seen.all("x-forwarded-for")).containsExactly("127.0.0.1");
            assertThat(seen.all("x-forwarded-proto")).containsExactly("http");
            assertThat(seen.all("x-forwarded-host")).containsExactly("shop.test");
            assertThat(seen.all("x-forwarded-port")).containsExactly("80");
            assertThat(seen.all("via")).containsExactly("1.1 somebody");
            assertThat(seen.all("x-request-id")).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTrustedProxyIsBelieved(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("trustedProxies: [127.0.0.0/8]")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(
                    Head.request(
                            "GET",
                            "/",
                            "x-forwarded-for",
                            "203.0.113.9",
                            "x-forwarded-proto",
                            "https",
                            "x-request-id",
                            "r-1"),
                    true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            Head seen = origin.requests("/").get(0);
            assertThat(String.join(", ", seen.all("x-forwarded-for"))).isEqualTo("203.0.113.9, 127.0.0.1");
            assertThat(seen.all("x-forwarded-proto")).containsExactly("https");
            assertThat(seen.all("x-request-id")).containsExactly("r-1");
        }
    }
}
