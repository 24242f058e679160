package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.StreamResetException;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A tunnel ends as its ends do: each direction by itself, whichever is first, or both at once by a reset. */
class TunnelEndsIT {
    /** More than the windows and most buffers on the way hold, so that the end comes while bytes are under way. */
    private static final int LENGTH = 8 << 20;

    private static final byte[] UP = bytes(1);
    private static final byte[] DOWN = bytes(2);

    private static byte[] bytes(int seed) {
        byte[] bytes = new byte[LENGTH];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Who ends its direction first; the other one waits for that. */
    enum First {
        CLIENT,
        SERVER,
        BOTH
    }

    static List<Arguments> cleartext() {
        return ways(Peers.HTTP1, Peers.H2C);
    }

    static List<Arguments> everyWay() {
        List<Arguments> ways = ways(Peers.values());
        // A direction of TLS that its client ends is, with BoringSSL, the end of both; HTTP/2 ends it by a frame.
        ways.removeIf(way -> way.get()[0] == Peers.HTTP1_TLS && way.get()[2] != First.SERVER);
        return ways;
    }

    private static List<Arguments> ways(Peers... clients) {
        List<Arguments> ways = new ArrayList<>();
        for (Peers client : clients) {
            for (String upstream : List.of("http1", "h2c")) {
                for (First first : First.values()) {
                    ways.add(Arguments.of(client, upstream, first));
                }
            }
        }
        return ways;
    }

    /** An origin whose tunnels a test takes out of a queue, to be what they are until the test is over. */
    private static final class Tunnels implements AutoCloseable {
        final BlockingQueue<PeerStream> streams = new LinkedBlockingQueue<>();
        final CompletableFuture<Void> over = new CompletableFuture<>();
        final Origin origin;

        Tunnels() throws IOException {
            origin = Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1).on("/", (stream, head) -> {
                Handshake.accept(stream, head);
                streams.add(stream);
                over.get();
            });
        }

        PeerStream take() throws InterruptedException {
            PeerStream stream = streams.poll(20, TimeUnit.SECONDS);
            assertThat(stream).isNotNull();
            return stream;
        }

        @Override
        public void close() throws IOException {
            over.complete(null);
            origin.close();
        }
    }

    private static CompletableFuture<Void> sending(PeerStream stream, byte[] bytes) {
        return CompletableFuture.runAsync(() -> {
            try {
                for (int at = 0; at < bytes.length; at += 100_000) {
                    int length = Math.min(100_000, bytes.length - at);
                    stream.send(bytes, at, length, at + length == bytes.length);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Sends again and again, so that no buffer on the way can hold it all, until the sending fails: it was reset. */
    private static CompletableFuture<Void> sendingUntilReset(PeerStream stream, byte[] bytes) {
        return CompletableFuture.runAsync(() -> {
            try {
                while (true) {
                    stream.send(bytes, 0, 100_000, false);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Receives to the end; returns how many bytes, and their hash. */
    private static String received(PeerStream stream) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[65_536];
        long length = 0;
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
            digest.update(buffer, 0, n);
            length += n;
        }
        return length + " " + HexFormat.of().formatHex(digest.digest());
    }

    private static String whole(byte[] bytes) {
        return bytes.length + " " + HexFormat.of().formatHex(sha256().digest(bytes));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void everyByteArrivesWhoeverEndsFirst(Peers client, String upstream, First first) throws Exception {
        try (Tunnels tunnels = new Tunnels();
                Rig rig =
                        Rig.to(tunnels.origin.port()).upstreamProtocol(upstream).start();
                Peer peer = rig.connect(client)) {
            PeerStream mine = Handshake.open(peer, "/");
            PeerStream theirs = tunnels.take();
            CompletableFuture<Void> up = null;
            CompletableFuture<Void> down = null;
            if (first != First.SERVER) {
                up = sending(mine, UP);
            }
            if (first != First.CLIENT) {
                down = sending(theirs, DOWN);
            }
            if (up == null) {
                assertThat(received(mine)).isEqualTo(whole(DOWN));
                up = sending(mine, UP);
                assertThat(received(theirs)).isEqualTo(whole(UP));
            } else if (down == null) {
                assertThat(received(theirs)).isEqualTo(whole(UP));
                down = sending(theirs, DOWN);
                assertThat(received(mine)).isEqualTo(whole(DOWN));
            } else {
                CompletableFuture<String> atServer = CompletableFuture.supplyAsync(() -> {
                    try {
                        return received(theirs);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                assertThat(received(mine)).isEqualTo(whole(DOWN));
                assertThat(atServer.get(20, TimeUnit.SECONDS)).isEqualTo(whole(UP));
            }
            up.get(20, TimeUnit.SECONDS);
            down.get(20, TimeUnit.SECONDS);
            String line = rig.awaitAccessLog(2).get(1);
            assertThat(line).contains(Integer.toString(LENGTH)).doesNotContain("\"cause\":\"");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void whatAClientOfTlsHasEndedIsNotTakenForDelivered(String upstream) throws Exception {
        try (Tunnels tunnels = new Tunnels();
                Rig rig =
                        Rig.to(tunnels.origin.port()).upstreamProtocol(upstream).start();
                Peer peer = rig.connect(Peers.HTTP1_TLS)) {
            PeerStream mine = Handshake.open(peer, "/");
            PeerStream theirs = tunnels.take();
            CompletableFuture<Void> up = sending(mine, UP);
            assertThat(received(theirs)).isEqualTo(whole(UP));
            up.get(20, TimeUnit.SECONDS);
            CompletableFuture<Void> down = sendingUntilReset(theirs, DOWN);
            assertThatThrownBy(() -> down.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
            assertThat(rig.awaitAccessLog(2).get(1)).contains("client_closed");
        }
    }

    /** Receives until the reset; what came before it is what was sent. */
    private static void assertReset(PeerStream stream, byte[] sent) {
        byte[] buffer = new byte[65_536];
        assertThatThrownBy(() -> {
                    int at = 0;
                    for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                        assertThat(Arrays.equals(buffer, 0, n, sent, at, at + n))
                                .isTrue();
                        at += n;
                    }
                })
                .satisfiesAnyOf(e -> assertThat(e).isInstanceOf(StreamResetException.class), e -> assertThat(e)
                        .hasMessageContaining("reset"));
    }

    @ParameterizedTest
    @MethodSource("cleartext")
    void aResetByTheClientIsOneForTheServer(Peers client, String upstream, First first) throws Exception {
        try (Tunnels tunnels = new Tunnels();
                Rig rig =
                        Rig.to(tunnels.origin.port()).upstreamProtocol(upstream).start();
                Peer peer = rig.connect(client)) {
            PeerStream mine = Handshake.open(peer, "/");
            PeerStream theirs = tunnels.take();
            byte[] little = Arrays.copyOf(UP, 1000);
            mine.send(little, first == First.CLIENT); // maybe its direction has ended before
            if (first == First.SERVER) {
                theirs.send("", true);
                assertThat(mine.receive(new byte[1])).isNegative();
            }
            byte[] buffer = new byte[1000];
            assertThat(theirs.receive(buffer)).isPositive();
            mine.reset();
            if (first == First.CLIENT) {
                CompletableFuture<Void> writing =
                        sendingUntilReset(theirs, DOWN); // reading shows the end that came before
                assertThatThrownBy(() -> writing.get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(IllegalStateException.class);
            } else {
                assertReset(theirs, UP);
            }
            assertThat(rig.awaitAccessLog(2).get(1)).contains("client_closed");
        }
    }

    @ParameterizedTest
    @MethodSource("cleartext")
    void aResetByTheServerIsOneForTheClient(Peers client, String upstream, First first) throws Exception {
        try (Tunnels tunnels = new Tunnels();
                Rig rig =
                        Rig.to(tunnels.origin.port()).upstreamProtocol(upstream).start();
                Peer peer = rig.connect(client)) {
            PeerStream mine = Handshake.open(peer, "/");
            PeerStream theirs = tunnels.take();
            theirs.send(Arrays.copyOf(DOWN, 1000), first == First.SERVER);
            if (first == First.CLIENT) {
                mine.send("", true);
                assertThat(theirs.receive(new byte[1])).isNegative();
            }
            assertThat(mine.receive(new byte[1000])).isPositive();
            theirs.reset();
            if (first == First.SERVER) {
                CompletableFuture<Void> writing = sendingUntilReset(mine, UP);
                assertThatThrownBy(() -> writing.get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(IllegalStateException.class);
            } else {
                assertReset(mine, DOWN);
            }
            assertThat(rig.awaitAccessLog(2).get(1)).contains("upstream_reset_in_body");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResetOvertakesWhatIsUnderWay(Pairing pairing) throws Exception {
        try (Tunnels tunnels = new Tunnels();
                Rig rig = Rig.to(tunnels.origin, pairing).start();
                Peer peer = rig.connect(pairing)) {
            PeerStream mine = Handshake.open(peer, "/");
            PeerStream theirs = tunnels.take();
            CompletableFuture<Void> up = sendingUntilReset(mine, UP);
            CompletableFuture<Void> down = sendingUntilReset(theirs, DOWN);
            assertThat(mine.receive(new byte[1000])).isPositive();
            assertThat(theirs.receive(new byte[1000])).isPositive();
            theirs.reset();
            assertThatThrownBy(() -> up.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> down.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
        }
    }
}
