package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.Rig;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A tunnel ends as its ends do: each direction by itself, whichever is first, or both at once by a reset. WebSockets are
 * tunnels, and so is what a CONNECT leads to.
 */
@Tag("platform")
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

    /** What a tunnel leads to. */
    enum Target {
        WEBSOCKET_BY_HTTP1,
        WEBSOCKET_BY_H2C,
        WEBSOCKET_BY_TLS,
        CONNECT
    }

    static List<Arguments> everyWay() {
        List<Arguments> ways = new ArrayList<>();
        for (Peers client : Peers.values()) {
            for (Target target : EnumSet.complementOf(EnumSet.of(Target.WEBSOCKET_BY_TLS))) {
                for (First first : First.values()) {
                    ways.add(Arguments.of(client, target, first));
                }
            }
        }
        return ways;
    }

    /** As well to an upstream that is spoken to by TLS. (Its peer here can be reset only with a word of farewell.) */
    static List<Arguments> everyWayToEndOne() {
        List<Arguments> ways = new ArrayList<>(everyWay());
        for (Peers client : Peers.values()) {
            for (First first : First.values()) {
                ways.add(Arguments.of(client, Target.WEBSOCKET_BY_TLS, first));
            }
        }
        return ways;
    }

    /** A tunnel of a gateway of its own, and its two ends. */
    private static final class Ends implements AutoCloseable {
        private final BlockingQueue<PeerStream> streams = new LinkedBlockingQueue<>();
        private final CompletableFuture<Void> over = new CompletableFuture<>();
        private final List<Closeable> servers = new ArrayList<>();
        final Rig rig;
        final Peer peer;
        final PeerStream mine;
        final PeerStream theirs;

        Ends(Peers client, Target target) throws Exception {
            if (target == Target.CONNECT) {
                ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                servers.add(server);
                rig = Rig.to(1)
                        .top(
                                """
                                connect:
                                  - parentRefs: [{name: clear}, {name: secure}]
                                    allowedPorts: [%d]
                                    allow: [127.0.0.1]
                                    trustedDestinations: [127.0.0.1]
                                """
                                        .formatted(server.getLocalPort()))
                        .start();
                peer = rig.connect(client);
                mine = Handshake.connect(peer, "127.0.0.1:" + server.getLocalPort());
                Socket socket = server.accept(); // the tunnel is open, so the connection is there
                servers.add(socket);
                theirs = Handshake.raw(socket);
            } else {
                boolean tls = target == Target.WEBSOCKET_BY_TLS;
                Origin origin = (tls ? Origin.startTls("http/1.1") : Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1))
                        .on("/", (stream, head) -> {
                            Handshake.accept(stream, head);
                            streams.add(stream);
                            over.get();
                        });
                servers.add(origin::close);
                Rig.Builder builder =
                        Rig.to(origin.port()).upstreamProtocol(target == Target.WEBSOCKET_BY_H2C ? "h2c" : "http1");
                if (tls) {
                    builder.upstream("tls: {verify: false}");
                }
                rig = builder.start();
                peer = rig.connect(client);
                mine = Handshake.open(peer, "/");
                theirs = Objects.requireNonNull(streams.poll(20, TimeUnit.SECONDS));
            }
        }

        /** Returns the last line of the access log that is about the tunnel. */
        String logged() throws IOException {
            return rig.awaitAccessLog(2).get(1); // the first is of its begin
        }

        @Override
        public void close() throws IOException {
            over.complete(null);
            peer.close();
            rig.close();
            for (Closeable server : servers) {
                server.close();
            }
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
        CRC32 checksum = new CRC32();
        byte[] buffer = new byte[65_536];
        long length = 0;
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
            checksum.update(buffer, 0, n);
            length += n;
        }
        return length + " " + checksum.getValue();
    }

    private static String whole(byte[] bytes) {
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        return bytes.length + " " + checksum.getValue();
    }

    @ParameterizedTest
    @MethodSource("everyWayToEndOne")
    void everyByteArrivesWhoeverEndsFirst(Peers client, Target target, First first) throws Exception {
        try (Ends ends = new Ends(client, target)) {
            PeerStream mine = ends.mine;
            PeerStream theirs = ends.theirs;
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
            String line = ends.logged();
            assertThat(line).contains(Integer.toString(LENGTH)).doesNotContain("\"cause\":\"");
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
    @MethodSource("everyWay")
    void aResetByTheClientIsOneForTheServer(Peers client, Target target, First first) throws Exception {
        try (Ends ends = new Ends(client, target)) {
            PeerStream mine = ends.mine;
            PeerStream theirs = ends.theirs;
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
            assertThat(ends.logged()).contains("client_closed");
        }
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void aResetByTheServerIsOneForTheClient(Peers client, Target target, First first) throws Exception {
        try (Ends ends = new Ends(client, target)) {
            PeerStream mine = ends.mine;
            PeerStream theirs = ends.theirs;
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
            assertThat(ends.logged()).contains("upstream_reset_in_body");
        }
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void aResetOvertakesWhatIsUnderWay(Peers client, Target target, First first) throws Exception {
        try (Ends ends = new Ends(client, target)) {
            CompletableFuture<Void> up = sendingUntilReset(ends.mine, UP);
            CompletableFuture<Void> down = sendingUntilReset(ends.theirs, DOWN);
            assertReceived(ends.mine, DOWN);
            assertReceived(ends.theirs, UP);
            if (first != First.SERVER) {
                ends.mine.reset();
            }
            if (first != First.CLIENT) {
                ends.theirs.reset();
            }
            assertThatThrownBy(() -> up.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> down.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
            assertThat(ends.logged()).containsAnyOf("client_closed", "upstream_reset_in_body");
        }
    }

    private static void assertReceived(PeerStream stream, byte[] sent) throws IOException {
        byte[] buffer = new byte[1000];
        int length = stream.receive(buffer);
        assertThat(length).isPositive();
        assertThat(Arrays.equals(buffer, 0, length, sent, 0, length)).isTrue();
    }
}
