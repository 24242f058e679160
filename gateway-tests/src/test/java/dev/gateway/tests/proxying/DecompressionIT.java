package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import com.aayushatharva.brotli4j.encoder.BrotliOutputStream;
import com.aayushatharva.brotli4j.encoder.Encoder;
import com.github.luben.zstd.ZstdOutputStream;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** An upstream that cannot decompress gets bodies that it can read, and no bombs. */
class DecompressionIT {
    private static Rig rig(Origin origin, Pairing pairing) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: Decompression, decompression: {maxBytes: 4MiB, maxRatio: 50}}]")
                .start();
    }

    private static byte[] compress(String coding, byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out =
                switch (coding) {
                    case "gzip" -> new GZIPOutputStream(bytes);
                    case "deflate" -> new DeflaterOutputStream(bytes);
                    case "br" ->
                        new BrotliOutputStream(
                                bytes, new Encoder.Parameters().setQuality(5).setWindow(18));
                    case "zstd" -> new ZstdOutputStream(bytes);
                    default -> throw new IllegalArgumentException(coding);
                }) {
            out.write(body);
        }
        return bytes.toByteArray();
    }

    static List<Arguments> pairingsAndCodings() {
        return Stream.of(Pairing.values())
                .flatMap(pairing ->
                        Stream.of("gzip", "deflate", "br", "zstd").map(coding -> Arguments.of(pairing, coding)))
                .toList();
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
    @MethodSource("pairingsAndCodings")
    void theUpstreamGetsTheBodyDecompressed(Pairing pairing, String coding) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] body = text(200_000);
            byte[] sent = compress(coding, body);
            PeerStream stream = client.open();
            stream.send(
                    Head.request(
                            "POST",
                            "/",
                            "content-encoding",
                            coding,
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

            rig.reload(Files.readString(rig.file()).replace("maxBytes: 4MiB", "maxBytes: 100KiB"));
            PeerStream third = client.open();
            third.send(Head.request("POST", "/text", "content-encoding", coding), false);
            third.send(sent, true);
            assertThat(third.receiveFinal().status()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void aBombIsRefusedAndNoUpstreamGetsIt(Pairing pairing, String coding) throws Exception {
        AtomicInteger complete = new AtomicInteger();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    complete.incrementAndGet();
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] bomb = compress(coding, new byte[1 << 20]);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", coding), false);
            stream.send(bomb, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(413);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("body_too_large", "more than 50 times its size");
            rig.awaitIdle();
            assertThat(complete).hasValue(0);
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void whatIsNotValidIsRefused(Pairing pairing, String coding) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] sent = compress(coding, text(1000));
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", coding), false);
            stream.send(sent, 0, sent.length - 1, true);
            assertThat(stream.receiveFinal().status()).isEqualTo(400);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_protocol_error", "it ends too early");
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void anUpstreamThatReadsSlowlyGetsAllOfIt(Pairing pairing, String coding) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    sent.await();
                    stream.send(Head.response(200), false);
                    stream.send(Integer.toString(stream.receiveBody().length()), true);
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] body = text(4 << 20);
            byte[] packed = compress(coding, body);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", coding), false);
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
    @MethodSource("pairingsAndCodings")
    void aClientThatLeavesInTheMiddleLeavesNothingBehind(Pairing pairing, String coding) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receive(new byte[100]);
                    arrived.countDown();
                    stream.receiveBody();
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            byte[] sent = compress(coding, text(300_000));
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-encoding", coding), false);
            stream.send(sent, 0, sent.length / 2, false);
            assertThat(arrived.await(20, TimeUnit.SECONDS)).isTrue();
            stream.reset();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatProgramsForFilesMakeAndCurlSendsIsRead(Pairing pairing, @TempDir Path directory) throws Exception {
        String curl = Tools.find("curl");
        Map<String, String[]> programs = Map.of(
                "gzip", new String[] {Tools.find("gzip"), "-k", "-9"},
                "zstd", new String[] {Tools.find("zstd"), "-q", "-19"},
                "br", new String[] {Tools.find("brotli"), "-k", "-9"});
        Map<String, String> suffixes = Map.of("gzip", ".gz", "zstd", ".zst", "br", ".br");
        Path file = Files.write(directory.resolve("log"), text(100_000));
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing)) {
            for (Map.Entry<String, String[]> program : programs.entrySet()) {
                String[] command = Arrays.copyOf(program.getValue(), program.getValue().length + 1);
                command[command.length - 1] = file.toString();
                assertThat(Tools.run(command).exit()).isZero();
                Tools.Result result = Tools.run(
                        curl,
                        "-s",
                        "--max-time",
                        "20",
                        pairing.client.isHttp2() ? "--http2-prior-knowledge" : "--http1.1",
                        "--data-binary",
                        "@" + file + suffixes.get(program.getKey()),
                        "-H",
                        "Content-Encoding: " + program.getKey(),
                        "http://127.0.0.1:" + rig.port() + "/");
                assertThat(result.exit()).isZero();
                assertThat(result.output()).isEqualTo(Files.readString(file));
            }
        }
    }
}
