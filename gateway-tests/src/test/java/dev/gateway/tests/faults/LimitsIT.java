package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests beyond the limits are refused, and cost nobody else anything. */
class LimitsIT {
    @ParameterizedTest
    @EnumSource
    void aBodyThatSaysItIsTooLargeIs413AndGoesNowhere(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxBody: 1KiB}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "1025"), false);
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
            assertThat(origin.requests("/")).isEmpty();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("body_too_large");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyThatTurnsOutTooLargeIs413(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxBody: 1KiB}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            stream.send("x".repeat(1024), false);
            stream.send("x", false);
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyAtTheLimitPassesAnnouncedOrNot(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxBody: 1KiB}")
                        .start();
                Peer client = rig.connect(pairing)) {
            for (Head head : List.of(Head.request("POST", "/"), Head.request("POST", "/", "content-length", "1024"))) {
                PeerStream stream = client.open();
                stream.send(head, false);
                stream.send("x".repeat(1024), true);
                assertThat(stream.receiveFinal().status()).as(head.toString()).isEqualTo(200);
                assertThat(stream.receiveBody()).hasSize(1024);
            }
        }
    }

    @Test
    void aRequestLineThatIsTooLongIs414() throws Exception {
        try (Origin origin = Origin.start();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxRequestLine: 1KiB}")
                        .start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /" + "x".repeat(2000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.readToEnd()).startsWith("HTTP/1.1 414 ");
        }
    }

    @Test
    void aMethodThatIsTooLongIs501() throws Exception {
        try (Origin origin = Origin.start();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("limits: {maxRequestLine: 1KiB}")
                        .start()) {
            for (String rest : new String[] {" / HTTP/1.1\r\nHost: a\r\n\r\n", ""}) { // and while it still comes
                try (Http1Peer client = Http1Peer.connect(rig.port())) {
                    client.raw("X".repeat(600)).raw("X".repeat(1400) + rest);
                    assertThat(client.readToEnd()).startsWith(rest.isEmpty() ? "HTTP/1.1 501 " : "HTTP/1.1 ");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void fieldsThatAreTooLargeAre431(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxHeaderBytes: 4KiB}")
                        .start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/", "x-large", "x".repeat(5000)), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(431);
            assertThat(origin.requests("/")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tooManyFieldsAre431(Pairing pairing) throws Exception {
        String[] fields = new String[2 * 60];
        for (int i = 0; i < fields.length; i += 2) {
            fields[i] = "x-" + i;
            fields[i + 1] = "v";
        }
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxHeaders: 50}")
                        .start()) {
            try (Peer client = rig.connect(pairing)) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/", fields), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(431);
                assertThat(origin.requests("/")).isEmpty();
            }
            try (Peer client = rig.connect(pairing)) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/", Arrays.copyOf(fields, 80)), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H2_TO_H1", "H2_TO_H2"})
    void streamsBeyondTheLimitAreRefusedAndTheConnectionGoesOn(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(4);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    goOn.await();
                    Behaviors.text("ok").serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing)
                        .listener("limits: {maxConcurrentStreams: 4}")
                        .start();
                Http2Peer client = (Http2Peer) rig.connect(pairing)) {
            assertThat(client.awaitSettings()).containsEntry(3, 4L);
            PeerStream[] streams = new PeerStream[4];
            for (int i = 0; i < 4; i++) {
                streams[i] = client.open();
                streams[i].send(Head.request("GET", "/"), true);
            }
            arrived.await();
            var fifth = client.open();
            fifth.send(Head.request("GET", "/"), true);
            assertThat(fifth.awaitReset()).isEqualTo(7); // REFUSED_STREAM
            goOn.countDown();
            for (PeerStream stream : streams) {
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
            }
        }
    }
}
