package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Work beyond what the process may have at once is refused at once, counted, and taken again as soon as there is room. */
class OverloadIT {
    private static final int REFUSED_STREAM = 7;

    @ParameterizedTest
    @EnumSource
    void requestsBeyondThoseInFlightAreRefusedAndTheAdminListenerAnswers(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok")).on("/slow", (stream, head) -> {
                    asked.countDown();
                    answer.await();
                    stream.send(Head.response(200, "content-length", "0"), true);
                });
                Rig rig = Rig.to(origin, pairing)
                        .top("workers: 1\noverload: {requestsInFlight: 1}")
                        .start();
                Peer first = rig.connect(pairing);
                Peer second = rig.connect(pairing)) {
            PeerStream slow = first.open();
            slow.send(Head.request("GET", "/slow"), true);
            asked.await();

            PeerStream refused = second.open();
            refused.send(Head.request("GET", "/"), true);
            if (refused instanceof Http2Stream stream) {
                assertThat(stream.awaitReset()).isEqualTo(REFUSED_STREAM);
            } else {
                assertThat(refused.receiveFinal().status()).isEqualTo(503);
            }
            assertThat(rig.admin("/healthz")).isNotEmpty();
            rig.awaitMetric(
                    1, "gateway_overload_actions_total", "resource", "requestsInFlight", "action", "refuse_request");
            assertThat(rig.admin("/stats?format=json")).contains("requestsInFlight.refuse_request");

            answer.countDown();
            assertThat(slow.receiveFinal().status()).isEqualTo(200);
            rig.awaitIdle();
            try (Peer third = rig.connect(pairing)) {
                PeerStream served = third.open();
                served.send(Head.request("GET", "/"), true);
                assertThat(served.receiveFinal().status()).isEqualTo(200);
            }
        } finally {
            answer.countDown();
        }
    }
}
