package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Interim responses and {@code Expect: 100-continue} (RFC 9110, sections 10.1.1 and 15.2). */
@Tag("platform")
class InterimResponsesIT {
    @ParameterizedTest
    @EnumSource
    void earlyHintsComeBeforeTheResponse(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(103, "link", "</style.css>; rel=preload"), false);
                    stream.send(Head.response(103, "link", "</script.js>; rel=preload"), false);
                    stream.send(Head.response(200, "content-length", "2"), false);
                    stream.send("ok", true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head first = stream.receiveHead();
            assertThat(first.status()).isEqualTo(103);
            assertThat(first.get("link")).contains("</style.css>; rel=preload");
            assertThat(stream.receiveHead().get("link")).contains("</script.js>; rel=preload");
            assertThat(stream.receiveHead().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatExpectsToContinueIsToldToAndThenSends(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (head.get("expect").orElse("").equals("100-continue")) {
                        stream.send(Head.response(100), false); // who is not asked says nothing
                    }
                    String body = stream.receiveBody();
                    stream.send(Head.response(200, "content-length", Integer.toString(body.length())), false);
                    stream.send(body, true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
            assertThat(stream.receiveHead().status()).isEqualTo(100);
            stream.send("body", true);
            assertThat(stream.receiveHead().status()).as("after one 100").isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("body");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUpstreamMayRefuseBeforeTheBodyIsSent(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(403, "content-length", "2"), false);
                    stream.send("no", true);
                    stream.receiveBody();
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
            assertThat(stream.receiveHead().status()).isEqualTo(403);
            assertThat(stream.receiveBody()).isEqualTo("no");
        }
    }

    @Test
    void aClientOfHttp10GetsNoInterimResponse() throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(103, "link", "</style.css>; rel=preload"), false);
                    Behaviours.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1).start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET / HTTP/1.0\r\nHost: gateway.test\r\n\r\n");
            String all = client.readToEnd();
            assertThat(all)
                    .startsWith("HTTP/1.")
                    .contains(" 200 ")
                    .doesNotContain("103")
                    .endsWith("ok");
        }
    }
}
