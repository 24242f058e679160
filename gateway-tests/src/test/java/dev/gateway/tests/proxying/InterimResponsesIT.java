package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.List;
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

    @CrossPairingTest
    void aFieldThatAFilterTakesOutIsNotInEarlyHintsEither(Pairing pairing) throws Exception {
        String filter = "{type: ResponseHeaderModifier, responseHeaderModifier: {remove: [X-Inside]}}";
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(103, "link", "</style.css>; rel=preload", "x-inside", "early"), false);
                    stream.send(Head.response(200, "content-length", "2", "x-inside", "late"), false);
                    stream.send("ok", true);
                });
                Rig rig = Rig.to(origin, pairing)
                        .rule("filters: [" + filter + "]")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head early = stream.receiveHead();
            assertThat(early.status()).isEqualTo(103);
            assertThat(early.get("link")).contains("</style.css>; rel=preload");
            assertThat(early.get("x-inside")).isEmpty();
            Head response = stream.receiveHead();
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.get("x-inside")).isEmpty();
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
    void aClientThatHasSentItsBodyIsNotToldToSendIt(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(100), false);
                    stream.send(Head.response(103, "link", "</style.css>; rel=preload"), false);
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
            stream.send("body", true);
            assertThat(stream.receiveHead().status()).isEqualTo(103);
            assertThat(stream.receiveHead().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
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

    /** It is the upstream that decides; the gateway says 100 for nobody. */
    @ParameterizedTest
    @EnumSource
    void theExpectationIsForwarded(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    if (head.all("expect").equals(List.of("100-continue"))) {
                        stream.send(Head.response(100), false);
                    }
                    stream.receiveBody();
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
            assertThat(stream.receiveHead().status()).isEqualTo(100);
            stream.send("body", true);
            assertThat(stream.receiveHead().status()).as("and no second 100").isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
        }
    }

    /** It knows no expectations, so that the client begins by itself after a while (RFC 9110, section 10.1.1). */
    @ParameterizedTest
    @EnumSource
    void anUpstreamThatIgnoresTheExpectationKeepsNobodyWaiting(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    String body = stream.receiveBody();
                    Behaviors.text(body).serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing)
                        .listener("timeouts: {requestBodyIdle: 2s}")
                        .start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < 2; i++) { // and the connections stay good
                PeerStream stream = client.open();
                stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
                rig.awaitMetric(1, "gateway_upstream_requests_active");
                stream.send("body", true);
                Head answer = stream.receiveHead();
                if (answer.status() == 100) { // on a slow machine, the gateway sends it before the body comes
                    answer = stream.receiveHead();
                }
                assertThat(answer.status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("body");
            }
            assertThat(origin.connections()).isEqualTo(1);
        }
    }

    /** The client may wait for an answer to its expectation; the upstream may not let it wait for ever. */
    @ParameterizedTest
    @EnumSource
    void anUpstreamThatDoesNotAnswerAnExpectationTimesOut(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.silence());
                Rig rig = Rig.to(origin, pairing)
                        .upstream("timeouts: {responseHeaders: 300ms}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "100-continue", "content-length", "4"), false);
            assertThat(stream.receiveHead().status()).isEqualTo(504);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"cause\":\"upstream_timeout\"");
        }
    }

    /** What it means is between the client and whoever it addresses. */
    @ParameterizedTest
    @EnumSource
    void anUnknownExpectationIsForwarded(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    boolean knows = head.get("expect").orElse("").equals("a-miracle");
                    stream.send(Head.response(knows ? 417 : 200, "content-length", "0"), true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "expect", "a-miracle", "content-length", "4"), false);
            stream.send("body", true);
            assertThat(stream.receiveHead().status()).isEqualTo(417);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"status\":417").doesNotContain("\"cause\"");
        }
    }

    @Test
    void aClientOfHttp10GetsNoInterimResponse() throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(103, "link", "</style.css>; rel=preload"), false);
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1).start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET / HTTP/1.0\r\nHost: gateway.test\r\n\r\n");
            String all = client.readToEnd();
            assertThat(all)
                    .startsWith("HTTP/1.")
                    .contains(" 200 ")
                    .doesNotContain(" 103 ")
                    .endsWith("ok");
        }
    }
}
