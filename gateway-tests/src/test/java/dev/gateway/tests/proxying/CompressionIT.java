package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdInputStream;
import dev.gateway.testing.BrotliBytes;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that accept it get responses compressed, each part as soon as the upstream has sent it. */
@Timeout(90)
class CompressionIT {
    private static final String TEXT = text(50_000);

    private static String text(int length) {
        StringBuilder text = new StringBuilder();
        Random random = new Random(length);
        while (text.length() < length) {
            text.append("line ").append(random.nextInt(10_000)).append(" of a page\n");
        }
        return text.substring(0, length);
    }

    private static Rig rig(Origin origin, Pairing pairing) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: Compression, compression: {algorithms: [gzip, deflate, br, zstd]}}]")
                .start();
    }

    private static Behavior page(String type) {
        return (stream, head) -> {
            stream.receiveBody();
            boolean last = head.method().equals("HEAD");
            stream.send(
                    Head.response(
                            200,
                            "content-type",
                            type,
                            "content-length",
                            Integer.toString(TEXT.length()),
                            "etag",
                            "\"v1\"",
                            "accept-ranges",
                            "bytes"),
                    last);
            if (!last) {
                stream.send(TEXT, true);
            }
        };
    }

    private static PeerStream ask(Peer client, String method, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, fields), true);
        return stream;
    }

    private static String decompress(String coding, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.ISO_8859_1);
        try (InputStream in = reader(coding, bytes)) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static InputStream reader(String coding, byte[] bytes) throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(bytes);
        return switch (coding) {
            case "gzip" -> new GZIPInputStream(in);
            case "deflate" -> new InflaterInputStream(in);
            case "br" -> BrotliBytes.read(bytes);
            case "zstd" -> new ZstdInputStream(in);
            default -> throw new IllegalArgumentException(coding);
        };
    }

    static List<Arguments> pairingsAndCodings() {
        return Stream.of(Pairing.values())
                .flatMap(pairing -> Stream.of("gzip", "br", "zstd").map(coding -> Arguments.of(pairing, coding)))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void whoAcceptsItGetsItCompressed(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", page("text/html")).on("/image", page("image/png"));
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "GET", "/", "accept-encoding", "gzip, br");
            Head head = stream.receiveFinal();
            assertThat(head.all("content-encoding")).containsExactly("gzip");
            assertThat(head.get("content-length")).isEmpty();
            assertThat(head.get("accept-ranges")).isEmpty();
            assertThat(head.all("vary")).containsExactly("Accept-Encoding");
            assertThat(head.all("etag")).containsExactly("W/\"v1\"");
            String body = stream.receiveBody();
            assertThat(decompress("gzip", body)).isEqualTo(TEXT);
            assertThat(body.length()).isLessThan(TEXT.length() / 2);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"sentBytes\":" + body.length());
            rig.awaitMetric(TEXT.length(), "gateway_compression_input_bytes_total", "route=\"all\"");
            rig.awaitMetric(body.length(), "gateway_compression_output_bytes_total", "route=\"all\"");

            PeerStream plain = ask(client, "GET", "/");
            Head other = plain.receiveFinal();
            assertThat(other.get("content-encoding")).isEmpty();
            assertThat(other.all("content-length")).containsExactly(Integer.toString(TEXT.length()));
            assertThat(other.all("vary")).containsExactly("Accept-Encoding");
            assertThat(other.all("etag")).containsExactly("\"v1\"");
            assertThat(plain.receiveBody()).isEqualTo(TEXT);

            PeerStream image = ask(client, "GET", "/image", "accept-encoding", "gzip");
            Head ofImage = image.receiveFinal();
            assertThat(ofImage.get("content-encoding")).isEmpty();
            assertThat(ofImage.get("vary")).isEmpty();
            assertThat(image.receiveBody()).isEqualTo(TEXT);

            PeerStream empty = ask(client, "HEAD", "/", "accept-encoding", "gzip");
            Head ofHead = empty.receiveFinal();
            assertThat(ofHead.all("content-encoding")).containsExactly("gzip");
            assertThat(ofHead.get("content-length")).isEmpty();
            assertThat(empty.receiveBody()).isEmpty();
            PeerStream next = ask(client, "GET", "/");
            assertThat(next.receiveFinal().status())
                    .as("nothing of a body was sent")
                    .isEqualTo(200);
            assertThat(next.receiveBody()).isEqualTo(TEXT);
        }
    }

    /** Returns what can be read of what has come so far. */
    private static String readable(String coding, ByteArrayOutputStream soFar) {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        try (InputStream in = reader(coding, soFar.toByteArray())) {
            byte[] buffer = new byte[1000];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                read.write(buffer, 0, n);
            }
        } catch (IOException e) {
            // more is to come: each library says it in another way
        }
        return read.toString(StandardCharsets.US_ASCII);
    }

    private static void awaitReadable(PeerStream stream, String coding, ByteArrayOutputStream soFar, String expected)
            throws IOException {
        byte[] buffer = new byte[8192];
        while (!readable(coding, soFar).equals(expected)) {
            int n = stream.receive(buffer);
            assertThat(n).as("bytes before the end").isPositive();
            soFar.write(buffer, 0, n);
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void eachPartArrivesBeforeTheUpstreamSendsTheNext(Pairing pairing, String coding) throws Exception {
        Semaphore next = new Semaphore(0);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "application/json"), false);
                    for (int i = 0; i < 3; i++) {
                        stream.send("{\"part\":" + i + "}\n", false);
                        next.acquire();
                    }
                    stream.sendTrailers("x-sum", "3", "content-digest", "sha-256=:x:");
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "GET", "/", "accept-encoding", coding, "te", "trailers");
            assertThat(stream.receiveFinal().all("content-encoding")).containsExactly(coding);
            ByteArrayOutputStream soFar = new ByteArrayOutputStream();
            String expected = "";
            for (int i = 0; i < 3; i++) {
                expected += "{\"part\":" + i + "}\n";
                awaitReadable(stream, coding, soFar, expected);
                if (i == 1) { // what has begun goes on as it was
                    rig.reload(
                            Files.readString(rig.file()).replace("algorithms: [gzip, deflate, br, zstd]", "level: 1"));
                }
                next.release();
            }
            soFar.writeBytes(stream.receiveBody().getBytes(StandardCharsets.ISO_8859_1));
            assertThat(decompress(coding, soFar.toString(StandardCharsets.ISO_8859_1)))
                    .isEqualTo(expected);
            assertThat(stream.trailer("x-sum")).containsExactly("3");
            assertThat(stream.trailer("content-digest")).isEmpty();
        }
    }

    /** Much of it waits for the client, in the gateway and before it. */
    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void aClientThatReadsSlowlyGetsAllOfIt(Pairing pairing, String coding) throws Exception {
        byte[] noise = new byte[3_000_000];
        new Random(1).nextBytes(noise);
        String all = new String(noise, StandardCharsets.ISO_8859_1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/plain"), false);
                    stream.send(noise, true);
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "GET", "/", "accept-encoding", coding);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(decompress(coding, stream.receiveBody()).equals(all)).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void aClientThatLeavesInTheMiddleEndsItUpstream(Pairing pairing, String coding) throws Exception {
        CompletableFuture<Exception> ended = new CompletableFuture<>();
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/plain"), false);
                    byte[] chunk = new byte[16_384];
                    Random random = new Random(1);
                    try {
                        while (true) {
                            random.nextBytes(chunk);
                            stream.send(chunk, false);
                        }
                    } catch (IOException e) {
                        ended.complete(e);
                        throw e;
                    }
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "GET", "/", "accept-encoding", coding);
            stream.receiveFinal();
            stream.receive(new byte[1000]);
            stream.reset();
            assertThat(ended.get(20, TimeUnit.SECONDS)).isNotNull();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("client_closed");
        }
    }

    @ParameterizedTest
    @MethodSource("pairingsAndCodings")
    void anUpstreamThatBreaksOffIsSeenToHaveDoneSo(Pairing pairing, String coding) throws Exception {
        Semaphore seen = new Semaphore(0);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/plain"), false);
                    stream.send("some", false);
                    seen.acquire();
                    stream.reset();
                });
                Rig rig = rig(origin, pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "GET", "/", "accept-encoding", coding);
            stream.receiveFinal();
            awaitReadable(stream, coding, new ByteArrayOutputStream(), "some");
            seen.release();
            assertThatThrownBy(stream::receiveBody).isInstanceOf(IOException.class);
            assertThat(rig.awaitAccessLog(1).get(0)).contains("upstream_reset_in_body");
        }
    }

    /** RFC 9110, section 12.5.3: weights first, then the order of the list, which is [zstd, br, gzip] by default. */
    @CrossPairingTest
    void theClientsWeightsAndThenTheListDecide(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().on("/", page("text/html"));
                Rig rig = Rig.to(origin, pairing)
                        .rule("filters: [{type: Compression, compression: {}}]")
                        .start();
                Peer client = rig.connect(pairing)) {
            Map<String, String> chosen = Map.of(
                    "gzip, deflate, br, zstd",
                    "zstd",
                    "gzip, deflate, br",
                    "br",
                    "gzip, deflate",
                    "gzip",
                    "zstd;q=0.5, br;q=0.8, gzip",
                    "gzip",
                    "*",
                    "zstd");
            for (Map.Entry<String, String> each : chosen.entrySet()) {
                PeerStream stream = ask(client, "GET", "/", "accept-encoding", each.getKey());
                assertThat(stream.receiveFinal().all("content-encoding")).containsExactly(each.getValue());
                assertThat(decompress(each.getValue(), stream.receiveBody())).isEqualTo(TEXT);
            }
        }
    }

    /** Each program has a decoder of its own: curl, and the commands that users unpack files with. */
    @ParameterizedTest
    @EnumSource
    void curlAndProgramsForFilesReadIt(Pairing pairing, @TempDir Path directory) throws Exception {
        String curl = Tools.find("curl");
        String protocol = pairing.client.isHttp2() ? "--http2-prior-knowledge" : "--http1.1";
        Map<String, String[]> programs = Map.of(
                "gzip", new String[] {Tools.find("gzip"), "-dc", "-S", ".gzip"},
                "zstd", new String[] {Tools.find("zstd"), "-dcq"},
                "br", new String[] {Tools.find("brotli"), "-dc"});
        try (Origin origin = Origin.start().on("/", page("text/html"));
                Rig rig = rig(origin, pairing)) {
            String url = "http://127.0.0.1:" + rig.port() + "/";
            for (String coding : new String[] {"gzip", "deflate", "br", "zstd"}) {
                String accept = "Accept-Encoding: " + coding;
                assertThat(Tools.run(curl, "-s", "--max-time", "20", protocol, "--compressed", "-H", accept, url)
                                .output())
                        .isEqualTo(TEXT);
                Path file = directory.resolve("page." + coding);
                Tools.Result fetched =
                        Tools.run(curl, "-s", "--max-time", "20", protocol, "-H", accept, "-o", file.toString(), url);
                assertThat(fetched.exit()).isZero();
                assertThat(Files.size(file)).isLessThan(TEXT.length() / 2);
                String[] program = programs.get(coding);
                if (program != null) {
                    String[] command = Arrays.copyOf(program, program.length + 1);
                    command[program.length] = file.toString();
                    assertThat(Tools.run(command).output()).isEqualTo(TEXT);
                }
            }
        }
    }

    @Test
    void aBrowserReadsIt() throws Exception {
        String page = "<title>a page</title><p>" + TEXT;
        try (Browser browser = Browser.start();
                Origin origin = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/html"), false);
                    stream.send(page, true);
                });
                Rig rig = rig(origin, Pairing.H1_TO_H1)) {
            browser.open("http://127.0.0.1:" + rig.port() + "/");
            assertThat(browser.evaluate("return document.title + ' ' + document.body.textContent.length"))
                    .isEqualTo("a page " + TEXT.length());
            assertThat(browser.evaluate("return fetch('/').then(r => r.headers.get('content-encoding'))"))
                    .isEqualTo("gzip");
        }
    }

    /** Browsers accept Brotli and Zstandard over TLS only. */
    @ParameterizedTest
    @ValueSource(strings = {"br", "zstd"})
    void aBrowserReadsOtherCodingsOverTls(String coding) throws Exception {
        String page = "<title>a page</title><p>" + TEXT;
        try (Browser browser = Browser.start();
                Origin origin = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-type", "text/html"), false);
                    stream.send(page, true);
                });
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .rule("filters: [{type: Compression, compression: {algorithms: [" + coding + "]}}]")
                        .start()) {
            browser.open("https://localhost:" + rig.tlsPort() + "/");
            assertThat(browser.evaluate("return document.title + ' ' + document.body.textContent.length"))
                    .isEqualTo("a page " + TEXT.length());
            assertThat(browser.evaluate("return fetch('/').then(r => r.headers.get('content-encoding'))"))
                    .isEqualTo(coding);
        }
    }
}
