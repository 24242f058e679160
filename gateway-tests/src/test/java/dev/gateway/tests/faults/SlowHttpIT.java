package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** slowhttptest's clients, which hold connections by being slow, lose them; who is not slow is served all the while. */
class SlowHttpIT {
    private static final int CONNECTIONS = 150;

    /** More than the kernel's buffers of a connection take, so that a slow reader is noticed. */
    private static final byte[] LARGE = new byte[32 << 20];

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "slow headers, false",
        "slow headers, true",
        "slow body, false",
        "slow body, true",
        "slow read, false",
        "slow read, true",
    })
    void slowClientsAreEndedAndCostNobodyElseAnything(String attack, boolean tls) throws Exception {
        String slowhttptest = Tools.find("slowhttptest");
        try (Origin origin = Origin.start()
                        .on("/", Behaviors.echo())
                        .on("/small", Behaviors.text("small"))
                        .on("/large", (stream, head) -> {
                            stream.receiveBody();
                            stream.send(Head.response(200, "content-length", "" + LARGE.length), false);
                            stream.send(LARGE, true);
                        });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("timeouts: {requestHeaders: 2s, requestBodyIdle: 2s, responseWriteIdle: 2s}")
                        .start()) {
            String url = (tls ? "https" : "http") + "://127.0.0.1:" + (tls ? rig.tlsPort() : rig.port());
            List<String> command = new ArrayList<>(List.of(slowhttptest, "-c", "" + CONNECTIONS, "-r", "200"));
            command.addAll(List.of("-l", "60", "-i", "4", "-p", "10"));
            command.addAll(
                    switch (attack) {
                        case "slow headers" -> List.of("-H", "-u", url + "/");
                        case "slow body" -> List.of("-B", "-t", "POST", "-s", "8192", "-u", url + "/");
                        default -> List.of("-X", "-w", "256", "-y", "512", "-n", "4", "-z", "16", "-u", url + "/large");
                    });

            Path output = directory.resolve("output");
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try (Bystander http1 = new Bystander(rig, Peers.HTTP1);
                    Bystander http2 = new Bystander(rig, Peers.H2_TLS)) {
                awaitEnded(rig, process, CONNECTIONS / 2);
                http1.awaitMore(20);
                http2.awaitMore(20);
                // It may not notice that its connections have gone: its slow readers wait for nothing then.
                awaitEnded(rig, process, CONNECTIONS);
                assertThat(http1.served()).isPositive();
                assertThat(http2.served()).isPositive();
            } finally {
                Tools.stop(process);
            }
            rig.awaitIdle();
            rig.awaitNoConnection();
            assertThat(Files.readString(output, StandardCharsets.ISO_8859_1)).doesNotContainPattern("available: .*NO");
        }
    }

    /**
     * Waits until so many of the slow connections have been ended for being slow: by a timeout, or because a response that
     * nobody reads kept an upstream connection for which others waited.
     */
    private static void awaitEnded(Rig rig, Process process, int count) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(3 * Peer.PATIENCE_MILLIS);
        double ended = 0;
        while (ended < count) {
            if (System.nanoTime() > deadline) {
                fail("%s of %s were ended; what was counted:%n%s", ended, count, rig.admin("/metrics"));
            }
            TimeUnit.MILLISECONDS.sleep(50);
            ended = rig.metric("gateway_downstream_requests_total", "cause=\"client_timeout\"")
                    + rig.metric("gateway_downstream_requests_total", "cause=\"overload\"");
            assertThat(process.isAlive() || ended > 0).isTrue();
        }
    }

    /** Asks for one small thing after another, and wants each. */
    private static final class Bystander implements AutoCloseable {
        private final Peer peer;
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final Semaphore answered = new Semaphore(0);
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Future<Integer> served;

        Bystander(Rig rig, Peers protocol) throws IOException {
            peer = rig.connect(protocol);
            served = thread.submit(() -> {
                int count = 0;
                for (; !stopped.get(); count++) {
                    PeerStream stream = peer.open();
                    stream.send(Head.request("GET", "/small"), true);
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo("small");
                    answered.release();
                    Thread.sleep(10); // a client, not a load
                }
                return count;
            });
        }

        /** Waits until so many more requests were answered. */
        void awaitMore(int requests) throws Exception {
            answered.drainPermits();
            for (int i = 0; i < requests; i++) {
                while (!answered.tryAcquire(50, TimeUnit.MILLISECONDS)) {
                    if (served.isDone()) {
                        served.get(); // throws what was wrong
                    }
                }
            }
        }

        /** Stops, and returns how many requests were answered; fails if one was not. */
        int served() throws Exception {
            stopped.set(true);
            return served.get();
        }

        @Override
        public void close() throws IOException {
            stopped.set(true);
            peer.close();
            thread.shutdown();
        }
    }
}
