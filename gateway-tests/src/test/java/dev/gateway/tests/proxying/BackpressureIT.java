package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies stream: who reads slowly slows the sender, nobody else, and costs little memory. */
@Tag("platform")
class BackpressureIT {
    /** Bodies of 2 GiB over all pairings. */
    private static final boolean LONG_FORM = "long".equals(System.getProperty("bodies"));

    private static final int BODY = 32 << 20;

    /** What the kernel holds of a connection that speaks HTTP/1, which has no windows: usually some 4.5 MiB. */
    private static final int IN_THE_KERNEL = 8 << 20;

    /** What windows allow and the gateway holds, usually some 300 KiB. */
    private static final int HELD = 2 << 20;

    /** What the gateway takes for what it holds, usually 2 MiB at most. */
    private static final long MEMORY = 8 << 20;

    private static final long DIRECT_MEMORY = 48 << 20; // with windows of 4 MiB

    /** Returns how much of a body may have left its sender while nobody receives it. */
    private static long onTheWay(Pairing pairing) {
        int sidesOfHttp1 = (pairing.client.isHttp2() ? 0 : 1) + (pairing.upstreamIsHttp2() ? 0 : 1);
        return HELD + (long) sidesOfHttp1 * IN_THE_KERNEL;
    }

    @ParameterizedTest
    @EnumSource
    void aSlowReaderSlowsTheUpstreamAndNobodyElse(Pairing pairing) throws Exception {
        AtomicLong sent = new AtomicLong();
        try (Origin origin = Origin.start()
                        .on("/large", (stream, head) -> {
                            stream.receiveBody();
                            stream.send(Head.response(200), false);
                            send(stream, BODY, 1 << 13, sent);
                        })
                        .on("/small", Behaviors.text("small"));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            long before = PlatformDependent.usedDirectMemory();
            PeerStream slow = client.open();
            slow.send(Head.request("GET", "/large"), true);
            assertThat(slow.receiveFinal().status()).isEqualTo(200);

            assertThat(awaitStanding(sent::get)).isLessThan(onTheWay(pairing));
            assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(MEMORY);

            try (Peer other = pairing.client.isHttp2() ? null : rig.connect(pairing)) {
                for (int i = 0; i < 20; i++) {
                    PeerStream small = (other == null ? client : other).open();
                    small.send(Head.request("GET", "/small"), true);
                    assertThat(small.receiveFinal().status()).isEqualTo(200);
                    assertThat(small.receiveBody()).isEqualTo("small");
                }
            }
            assertThat(drain(slow)).isEqualTo(BODY);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSlowUpstreamSlowsTheUploader(Pairing pairing) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicLong sent = new AtomicLong();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    goOn.await();
                    long received = drain(stream);
                    Behaviors.text(Long.toString(received)).serve(stream, head);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            long before = PlatformDependent.usedDirectMemory();
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            Thread sender = new Thread(() -> {
                try {
                    send(stream, BODY, 1 << 13, sent);
                } catch (IOException e) {
                    sent.set(Long.MIN_VALUE);
                }
            });
            sender.start();

            assertThat(awaitStanding(sent::get)).isBetween(1L, onTheWay(pairing));
            assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(MEMORY);

            goOn.countDown();
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo(Integer.toString(BODY));
            sender.join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void bodiesMayBeLargerThanAnyMemory(Pairing pairing) throws Exception {
        // More than an int counts, and than the heap has, on one pairing; enough to show a leak on the others.
        boolean huge = LONG_FORM || pairing == Pairing.H1_TO_H1;
        long size = huge ? (1L << 31) + (64 << 20) : 64 << 20;
        long peak = 0;
        long before = PlatformDependent.usedDirectMemory();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", Long.toString(size)), false);
                    send(stream, size, 1 << 16, new AtomicLong());
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = pairing.client.isHttp2()
                        ? Http2Peer.connect(rig.port(), Http2Peer.INITIAL_WINDOW_SIZE, 4 << 20)
                        : rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().get("content-length")).contains(Long.toString(size));
            byte[] buffer = new byte[1 << 16];
            long received = 0;
            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                received += n;
                peak = Math.max(peak, PlatformDependent.usedDirectMemory() - before);
            }
            assertThat(received).isEqualTo(size);
        }
        assertThat(peak).isLessThan(DIRECT_MEMORY);
    }

    /**
     * More than an int counts. All pairings of such size take some time: they are run with {@code -Dbodies=long}, else one
     * of HTTP/1, where lengths are counted by the gateway, and of HTTP/2, where they are checked.
     */
    @ParameterizedTest
    @EnumSource
    void uploadsOfKnownLengthMayBeLargerThanAnInt(Pairing pairing) throws Exception {
        boolean huge = LONG_FORM || pairing == Pairing.H2_TO_H1;
        long size = huge ? (1L << 31) + (64 << 20) : 64 << 20;
        long before = PlatformDependent.usedDirectMemory();
        AtomicLong peak = new AtomicLong();
        try (Origin origin = Origin.start(Http2Peer.INITIAL_WINDOW_SIZE, 4 << 20)
                        .on("/", (stream, head) -> {
                            byte[] buffer = new byte[1 << 16];
                            long received = 0;
                            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                                received += n;
                                peak.accumulateAndGet(PlatformDependent.usedDirectMemory() - before, Math::max);
                            }
                            Behaviors.text(head.get("content-length").orElse("?") + " " + received)
                                    .serve(stream, head);
                        });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", Long.toString(size)), false);
            send(stream, size, 1 << 16, new AtomicLong());
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo(size + " " + size);
        }
        assertThat(peak.get()).isLessThan(DIRECT_MEMORY);
    }

    private static void send(PeerStream stream, long size, int part, AtomicLong sent) throws IOException {
        byte[] chunk = new byte[part];
        for (long at = 0; at < size; at += chunk.length) {
            stream.send(chunk, at + chunk.length >= size);
            sent.addAndGet(chunk.length);
        }
    }

    private static long drain(PeerStream stream) throws IOException {
        byte[] buffer = new byte[1 << 16];
        long received = 0;
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
            received += n;
        }
        return received;
    }

    /**
     * Returns what a counter stands at once it has not moved for half a second. On a slow machine that may be too
     * early, and then too little: what is asserted of it is an upper bound.
     */
    private static long awaitStanding(LongSupplier counter) throws InterruptedException {
        long last = -1;
        int still = 0;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (still < 10) {
            assertThat(System.nanoTime()).as("still moving, or not yet").isLessThan(deadline);
            long now = counter.getAsLong();
            still = now == last && now > 0 ? still + 1 : 0;
            last = now;
            Thread.sleep(50);
        }
        return last;
    }
}
