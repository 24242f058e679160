package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What upstreams and clients see of each other's fields. */
class ForwardedHeadIT {
    @ParameterizedTest
    @EnumSource
    void fieldsForTheGatewayAloneStayHere(Pairing pairing) throws Exception {
        boolean h1 = !pairing.client.isHttp2(); // HTTP/2 has no such fields, and a request with them is malformed
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(
                            pairing.upstreamIsHttp2()
                                    ? Head.response(200, "x-end", "b")
                                    : Head.response(
                                            200,
                                            "connection",
                                            "x-private",
                                            "x-private",
                                            "a",
                                            "keep-alive",
                                            "timeout=5",
                                            "x-end",
                                            "b"),
                            true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(
                    h1
                            ? Head.request(
                                    "GET",
                                    "/",
                                    "connection",
                                    "X-Private, keep-alive",
                                    "x-private",
                                    "a",
                                    "keep-alive",
                                    "timeout=5",
                                    "proxy-connection",
                                    "keep-alive",
                                    "te",
                                    "gzip",
                                    "x-end",
                                    "b")
                            : Head.request("GET", "/", "x-end", "b"),
                    true);
            Head response = stream.receiveFinal();
            assertThat(response.status()).isEqualTo(200);
            Head seen = origin.requests("/").get(0);
            for (Head head : new Head[] {seen, response}) {
                assertThat(head.get("x-end")).contains("b");
                assertThat(head.get("x-private")).isEmpty();
                assertThat(head.get("keep-alive")).isEmpty();
                assertThat(head.get("proxy-connection")).isEmpty();
                assertThat(head.get("te").orElse("")).doesNotContain("gzip");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theUpstreamLearnsWhoAsked(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviours.text("ok"));
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
            assertThat(String.join(", ", seen.all("via"))).startsWith("1.1 somebody, ");
            assertThat(seen.all("x-request-id")).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTrustedProxyIsBelieved(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviours.text("ok"));
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
