package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream that cannot decompress gets bodies that it can read, and no bombs. */
class DecompressionIT {
    private static Rig rig(Origin origin, Pairing pairing) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: Decompression, decompression: {maxBytes: 4MiB, maxRatio: 50}}]")
                .start();
    }

    private static byte[] gzip(byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(body);
        }
        return bytes.toByteArray();
    }

    private static byte[] text(int length) {
        StringBuilder text = new StringBuilder();
        Random random = new Random(length);
        while (text.length() < length) {
            text.append("entry ").append(random.nextInt(100_000)).append(" of a log\n");
        }
        return text.substring(0, length).getBytes(StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @EnumSource
    void theUpstreamGetsTheBodyDecompressed(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] body = text(200_000);
            byte[] sent = gzip(body);
            PeerStream stream = client.open();
            stream.send(
                    Head.request(
                            "POST",
                            "/",
                            "content-encoding",
                            "gzip",
                            "content-length",
                            Integer.toString(sent.length),
                            "content-digest",
                            "sha-256=:x:"),
                    false);
            stream.send(sent, 0, 10_000, false);
            stream.send(sent, 10_000, sent.length - 10_000, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo(new String(body, StandardCharsets.US_ASCII));
            Head received = origin.requests("/").get(0);
            assertThat(received.get("content-encoding")).isEmpty();
            assertThat(received.get("content-length")).isEmpty();
            assertThat(received.get("content-digest")).isEmpty();

            ByteArrayOutputStream deflated = new ByteArrayOutputStream();
            try (OutputStream out = new DeflaterOutputStream(deflated)) {
                out.write(body);
            }
            PeerStream other = client.open();
            other.send(Head.request("POST", "/", "content-encoding", "deflate"), false);
            other.send(deflated.toByteArray(), true);
            assertThat(other.receiveFinal().status()).isEqualTo(200);
            assertThat(other.receiveBody()).hasSize(body.length);

            rig.reload(Files.readString(rig.file()).replace("maxBytes: 4MiB", "maxBytes: 100KiB"));
            PeerStream third = client.open();
            third.send(Head.request("POST", "/text", "content-encoding", "gzip"), false);
            third.send(sent, true);
            assertThat(third.receiveFinal().status()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBombIsRefusedAndNoUpstreamGetsIt(Pairing pairing) throws Exception {
        AtomicInteger complete = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    complete.incrementAndGet();
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] bomb = gzip(new byte[1 << 20]);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", "gzip"), false);
            stream.send(bomb, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("body_too_large", "more than 50 times its size");
            rig.awaitIdle();
            assertThat(complete).hasValue(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotValidIsRefused(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] sent = gzip(text(1000));
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", "gzip"), false);
            stream.send(sent, 0, sent.length - 1, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(400);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_protocol_error", "it ends too early");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUpstreamThatReadsSlowlyGetsAllOfIt(Pairing pairing) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    sent.await();
                    stream.send(Head.response(200), false);
                    stream.send(Integer.toString(stream.receiveBody().length()), true);
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] body = text(4 << 20);
            byte[] packed = gzip(body);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", "gzip"), false);
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try {
                    stream.send(packed, true);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            rig.awaitMetric(1, "gateway_upstream_requests_active");
            sent.countDown();
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo(Integer.toString(body.length));
            sending.get(20, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatLeavesInTheMiddleLeavesNothingBehind(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receive(new byte[100]);
                    arrived.countDown();
                    stream.receiveBody();
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] sent = gzip(text(300_000));
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", "gzip"), false);
            stream.send(sent, 0, sent.length / 2, false);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            stream.reset();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatGzipMakesAndCurlSendsIsRead(Pairing pairing, @TempDir Path directory) throws Exception {
        String gzip = Tools.find("gzip");
        String curl = Tools.find("curl");
        Path file = Files.write(directory.resolve("log"), text(100_000));
        assertThat(Tools.run(gzip, "-k", "-9", file.toString()).exit()).isZero();
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing)) {
            Tools.Result result = Tools.run(
                    curl,
                    "-s",
                    "--max-time",
                    "20",
                    pairing.client.isHttp2() ? "--http2-prior-knowledge" : "--http1.1",
                    "--data-binary",
                    "@" + file + ".gz",
                    "-H",
                    "Content-Encoding: gzip",
                    "http://127.0.0.1:" + rig.port() + "/");
            assertThat(result.exit()).isZero();
            assertThat(result.output()).isEqualTo(Files.readString(file));
        }
    }
}
