package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bodies arrive as they were sent: random sizes, random parts, of known length or not, both ways at once, side by side
 * with exchanges that are cut off. The sums are made at both ends; seeds are fixed, so a failure can be had again.
 */
@Tag("platform")
class BodyIntegrityIT {
    private static final int WORKERS = 6;
    private static final int EXCHANGES = 25;

    @ParameterizedTest
    @EnumSource
    void bodiesArriveAsTheyWereSent(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", BodyIntegrityIT::digest);
                Rig rig = Rig.to(origin, pairing).start()) {
            ExecutorService threads = Executors.newCachedThreadPool();
            try (Peer shared = rig.connect(pairing)) {
                List<Future<?>> workers = new ArrayList<>();
                for (int worker = 0; worker < WORKERS; worker++) {
                    long seed = worker;
                    // Workers share a connection where it can be shared.
                    workers.add(threads.submit(() -> pairing.client.isHttp2()
                            ? work(shared, seed, threads)
                            : work(rig, pairing, seed, threads)));
                }
                for (Future<?> worker : workers) {
                    try {
                        worker.get(60, TimeUnit.SECONDS);
                    } catch (ExecutionException e) {
                        List<String> failures = rig.awaitAccessLog(1).stream()
                                .filter(line -> line.contains("\"cause\""))
                                .toList();
                        throw new AssertionError(failures.toString(), e);
                    }
                }
            } finally {
                threads.shutdownNow();
            }
            rig.awaitIdle();
        }
    }

    private static Void work(Rig rig, Pairing pairing, long seed, ExecutorService threads) throws Exception {
        Random random = new Random(seed);
        Peer peer = rig.connect(pairing);
        for (int i = 0; i < EXCHANGES; i++) {
            if (!exchange(peer, random, threads)) {
                peer.close();
                peer = rig.connect(pairing);
            }
        }
        peer.close();
        return null;
    }

    private static Void work(Peer shared, long seed, ExecutorService threads) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < EXCHANGES; i++) {
            exchange(shared, random, threads);
        }
        return null;
    }

    /** Returns whether the exchange came to its end, and the connection may be used again. */
    private static boolean exchange(Peer peer, Random random, ExecutorService threads) throws Exception {
        byte[] sent = body(random);
        long seed = random.nextLong(1000);
        boolean aborts = random.nextInt(8) == 0;
        boolean known = random.nextBoolean();
        Random parts = new Random(random.nextLong());
        PeerStream stream = peer.open();
        List<String> fields = new ArrayList<>(List.of("x-seed", Long.toString(seed)));
        if (known) {
            fields.addAll(List.of("content-length", Integer.toString(sent.length)));
        }
        int limit = aborts ? random.nextInt(sent.length + 1) : sent.length;
        Callable<Void> sender = () -> {
            stream.send(Head.request("POST", "/", fields.toArray(String[]::new)), false);
            sendParts(stream, sent, limit, parts, !aborts);
            return null;
        };
        Future<Void> sending = threads.submit(sender);
        if (aborts) {
            sending.get(20, TimeUnit.SECONDS);
            stream.reset();
            return false;
        }
        Head response = stream.receiveFinal();
        assertThat(response.status()).as(response.toString()).isEqualTo(200);
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        byte[] buffer = new byte[1 + parts.nextInt(40_000)];
        for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
            received.update(buffer, 0, n);
        }
        try {
            sending.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("the request could not be sent", e);
        }
        assertThat(stream.trailer("x-received")).containsExactly(sum(sent));
        assertThat(HexFormat.of().formatHex(received.digest())).isEqualTo(sum(body(new Random(seed))));
        return true;
    }

    /** Sends the body of a seed while it receives, and ends by the sum of what it received. */
    private static void digest(PeerStream stream, Head head) throws Exception {
        long seed = Long.parseLong(head.get("x-seed").orElseThrow());
        byte[] answer = body(new Random(seed));
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        stream.send(Head.response(200, "trailer", "x-received"), false);
        Random parts = new Random(seed);
        byte[] buffer = new byte[20_000];
        int sent = 0;
        boolean ended = false;
        while (!ended || sent < answer.length) {
            if (!ended) {
                int n = stream.receive(buffer);
                ended = n < 0;
                received.update(buffer, 0, Math.max(n, 0));
            }
            int part = Math.min(answer.length - sent, 1 + parts.nextInt(30_000));
            if (part > 0) {
                stream.send(answer, sent, part, false);
                sent += part;
            }
        }
        stream.sendTrailers("x-received", HexFormat.of().formatHex(received.digest()));
    }

    private static void sendParts(PeerStream stream, byte[] body, int limit, Random random, boolean last)
            throws IOException {
        int sent = 0;
        while (sent < limit) {
            int part = Math.min(limit - sent, 1 + random.nextInt(random.nextBoolean() ? 100_000 : 200));
            stream.send(body, sent, part, last && sent + part == body.length);
            sent += part;
        }
        if (last && body.length == 0) {
            stream.send(body, 0, 0, true);
        }
    }

    /** As often small as large, and often at an edge. */
    private static byte[] body(Random random) {
        int size =
                switch (random.nextInt(4)) {
                    case 0 -> 0;
                    case 1 -> random.nextInt(100);
                    case 2 -> (1 << 14) - 1 + random.nextInt(3);
                    default -> random.nextInt(700_000);
                };
        byte[] body = new byte[size];
        random.nextBytes(body);
        return body;
    }

    private static String sum(byte[] body) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
    }
}
