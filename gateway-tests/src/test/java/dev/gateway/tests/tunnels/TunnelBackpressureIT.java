package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whoever does not read a tunnel slows whoever sends into it: neither the other direction, nor others on the same
 * connection, and little memory is held.
 */
@Timeout(60)
class TunnelBackpressureIT {
    private static final int SIZE = 128 << 20;

    /** What sockets' buffers in the kernel and windows may hold, with room to spare. */
    private static final int ON_THE_WAY = 64 << 20;

    private static final long DIRECT_MEMORY = 48 << 20;
    private static final int TURNS = 200;

    /** Messages of a WebSocket in one frame each, of zeros. */
    private static final byte[] SERVERS_MESSAGE = frame(1 << 13, 126, 0);

    private static final byte[] CLIENTS_MESSAGE = frame(1000, 0x80 | 126, 4);

    @ParameterizedTest
    @EnumSource
    void aClientThatDoesNotReadSlowsTheServerOnly(Pairing pairing) throws Exception {
        AtomicLong sent = new AtomicLong();
        AtomicLong received = new AtomicLong();
        try (Origin origin = Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1)
                        .on("/tunnel", (stream, head) -> {
                            Handshake.accept(stream, head);
                            Thread reader = new Thread(() -> count(stream, received));
                            reader.start();
                            for (int at = 0; at < SIZE; at += SERVERS_MESSAGE.length) {
                                stream.send(SERVERS_MESSAGE, at + SERVERS_MESSAGE.length >= SIZE);
                                sent.addAndGet(SERVERS_MESSAGE.length);
                            }
                            reader.join();
                        })
                        .on("/small", Behaviors.text("small"));
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            long before = PlatformDependent.usedDirectMemory();
            PeerStream tunnel = Handshake.open(client, "/tunnel");
            assertThat(awaitStanding(sent)).isLessThan(ON_THE_WAY);
            assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(DIRECT_MEMORY);

            for (int i = 1; i <= TURNS; i++) { // the other direction goes on
                tunnel.send(CLIENTS_MESSAGE, false);
                await(received, (long) CLIENTS_MESSAGE.length * i);
            }
            try (Peer other = pairing.client.isHttp2() ? null : rig.connect(pairing)) {
                for (int i = 0; i < 20; i++) { // and others do
                    PeerStream small = (other == null ? client : other).open();
                    small.send(Head.request("GET", "/small"), true);
                    assertThat(small.receiveFinal().status()).isEqualTo(200);
                    assertThat(small.receiveBody()).isEqualTo("small");
                }
            }
            assertThat(sent.get()).as("nothing more was sent meanwhile").isLessThan(ON_THE_WAY);
            tunnel.send("", true);
            assertThat(count(tunnel, new AtomicLong())).isEqualTo(SIZE);
        }
    }

    /** A binary message of so many bytes with its head (RFC 6455, 5.2), its mask zeros as well. */
    private static byte[] frame(int size, int marker, int mask) {
        byte[] frame = new byte[size];
        int length = size - 4 - mask;
        frame[0] = (byte) 0x82;
        frame[1] = (byte) marker;
        frame[2] = (byte) (length >> 8);
        frame[3] = (byte) length;
        return frame;
    }

    /** Counts what comes, to the end. */
    private static long count(PeerStream stream, AtomicLong counter) {
        byte[] buffer = new byte[1 << 16];
        try {
            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                counter.addAndGet(n);
            }
            return counter.get();
        } catch (IOException e) {
            return -1;
        }
    }

    private static void await(AtomicLong counter, long value) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (counter.get() < value) {
            assertThat(System.nanoTime())
                    .as("%d of %d bytes", counter.get(), value)
                    .isLessThan(deadline);
            LockSupport.parkNanos(100_000);
        }
    }

    /** Returns what a counter stands at once it has not moved for half a second; of that, only an upper bound is asserted. */
    private static long awaitStanding(AtomicLong counter) {
        long last = -1;
        int still = 0;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (still < 10) {
            assertThat(System.nanoTime()).as("still moving, or not yet").isLessThan(deadline);
            long now = counter.get();
            still = now == last && now > 0 ? still + 1 : 0;
            last = now;
            LockSupport.parkNanos(50_000_000);
        }
        return last;
    }
}
