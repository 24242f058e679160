package dev.gateway.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class DemoUpstreamTest {
    private static DemoUpstream demo;
    private static HttpClient client;

    @BeforeAll
    static void start() throws InterruptedException {
        demo = DemoUpstream.start(0);
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + demo.port() + path));
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(to(path).build(), BodyHandlers.ofString());
    }

    private static String type(HttpResponse<?> response) {
        return response.headers().firstValue("content-type").orElse("");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/tiles", "/tiles?latency=0"})
    void thePageShowsAPictureOf180Tiles(String path) throws Exception {
        HttpResponse<String> page = get(path);

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(type(page)).isEqualTo("text/html; charset=utf-8");
        assertThat(page.body().split("<img ", -1)).hasSize(181);
        assertThat(page.body())
                .contains("src=\"tiles/0.png\"", "src=\"tiles/179.png\"")
                .doesNotContain("@TILES@", "@LATENCY@");
        assertThat(page.body().replace("xmlns", "")).doesNotContain("http://", "https://");
    }

    @Test
    void theLatencyAskedForIsThatOfEveryTile() throws Exception {
        assertThat(get("/tiles?latency=100").body().split("\\.png\\?latency=100\"", -1))
                .hasSize(181);
        assertThat(get("/tiles?latency=10001").statusCode()).isEqualTo(400);
        assertThat(get("/tiles?latency=-1").statusCode()).isEqualTo(400);
        assertThat(get("/tiles/0.png?latency=x").statusCode()).isEqualTo(400);

        long start = System.nanoTime();
        assertThat(get("/tiles/0.png?latency=50").statusCode()).isEqualTo(200);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000_000);
    }

    @Test
    void everyTileIsAnImageAndNoTwoNeighborsAreEqual() throws Exception {
        byte[] before = {};
        for (int i = 0; i < 180; i++) {
            HttpResponse<byte[]> tile = client.send(to("/tiles/" + i + ".png").build(), BodyHandlers.ofByteArray());
            assertThat(tile.statusCode()).isEqualTo(200);
            assertThat(type(tile)).isEqualTo("image/png");
            assertThat(tile.body()).isNotEqualTo(before);
            assertIsPng(tile.body());
            before = tile.body();
        }
        assertThat(get("/tiles/180.png").statusCode()).isEqualTo(400);
        assertThat(get("/tiles/x").statusCode()).isEqualTo(400);
    }

    private static void assertIsPng(byte[] png) throws DataFormatException {
        ByteBuffer in = ByteBuffer.wrap(png);
        assertThat(in.getLong()).isEqualTo(0x89504E470D0A1A0AL);
        in.position(16);
        assertThat(in.getInt()).isEqualTo(64);
        assertThat(in.getInt()).isEqualTo(64);
        in.position(33);
        int length = in.getInt();
        in.position(41);
        Inflater inflater = new Inflater();
        inflater.setInput(png, 41, length);
        assertThat(inflater.inflate(new byte[20_000])).isEqualTo(64 * (64 * 3 + 1));
        inflater.end();
    }

    @Test
    void anEchoShowsTheRequestAndItsBody() throws Exception {
        HttpRequest request = to("/echo?a=b")
                .header("X-Tier", "gold")
                .POST(BodyPublishers.ofString("the body"))
                .build();

        String echo = client.send(request, BodyHandlers.ofString()).body();

        assertThat(echo)
                .startsWith("POST /echo?a=b HTTP/1.1\n")
                .contains("\nX-Tier: gold\n")
                .endsWith("\n\nthe body");
    }

    @Test
    void aRawEchoReturnsALargeBodyByteByByteWhetherItsLengthIsKnownOrNot() throws Exception {
        byte[] body = new byte[5_000_000];
        new Random(1).nextBytes(body);

        for (HttpRequest.BodyPublisher publisher : new HttpRequest.BodyPublisher[] {
            BodyPublishers.ofByteArray(body), BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
        }) {
            HttpRequest request = to("/echo?raw")
                    .header("Content-Type", "a/b")
                    .POST(publisher)
                    .build();
            HttpResponse<byte[]> echo = client.send(request, BodyHandlers.ofByteArray());
            assertThat(echo.body()).isEqualTo(body);
            assertThat(type(echo)).isEqualTo("a/b");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 250, 251, 100_000, 20_000_000})
    void bytesAreAsManyAsAskedForAndKnownBeforehand(long count) throws Exception {
        HttpResponse<InputStream> response = client.send(to("/bytes/" + count).build(), BodyHandlers.ofInputStream());

        assertThat(response.headers().firstValueAsLong("content-length")).hasValue(count);
        long position = 0;
        byte[] buffer = new byte[65536];
        try (InputStream in = response.body()) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                for (int i = 0; i < n; i++, position++) {
                    if (buffer[i] != (byte) (position % 251)) {
                        throw new AssertionError("wrong byte at " + position);
                    }
                }
            }
        }
        assertThat(position).isEqualTo(count);
    }

    @Test
    void aHugeResponseIsNotMadeBeforeItIsRead() throws Exception {
        HttpResponse<InputStream> response =
                client.send(to("/bytes/" + (100L << 30)).build(), BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            assertThat(in.readNBytes(1_000_000)).hasSize(1_000_000);
        }
        HttpRequest head = to("/bytes/" + (100L << 30))
                .method("HEAD", BodyPublishers.noBody())
                .build();
        assertThat(client.send(head, BodyHandlers.ofString()).headers().firstValueAsLong("content-length"))
                .hasValue(100L << 30);
    }

    @ParameterizedTest
    @CsvSource({
        "/bytes/107374182401,400",
        "/bytes/-1,400",
        "/bytes/,400",
        "/bytes,400",
        "/bytes/1e3,400",
        "/delay/60001,400",
        "/delay/x,400",
        "/status/199,400",
        "/status/600,400",
        "/status/abc,400",
        "/sse?count=1001,400",
        "/sse?count=,400",
        "/ws,426",
        "/nothing,404",
        "/a/b/c/d,404",
        "/%,400",
        "/tiles/,400"
    })
    void whatMakesNoSenseIsRefused(String path, int status) throws Exception {
        String request = "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

        assertThat(exchange(request)).startsWith("HTTP/1.1 " + status + " ");
    }

    /** Sends bytes as they are; returns all that comes until the connection ends. */
    private static String exchange(String request) throws IOException {
        try (Socket socket = new Socket("localhost", demo.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 204, 205, 302, 304, 404, 418, 500, 503, 599})
    void anyFinalStatusCanBeHad(int status) throws Exception {
        HttpResponse<String> response = get("/status/" + status);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body().isEmpty()).isEqualTo(status == 204 || status == 205 || status == 304);
        assertThat(get("/status/200").body()).isEqualTo("200 OK\n");
    }

    @Test
    void aDelayedAnswerComesNoEarlier() throws Exception {
        long start = System.nanoTime();

        assertThat(get("/delay/60").body()).isEqualTo("after 60 ms\n");
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(60_000_000);
    }

    @Test
    void theFieldsOfARequestAreShown() throws Exception {
        HttpRequest request = to("/headers").header("X-Tier", "gold").build();

        assertThat(client.send(request, BodyHandlers.ofString()).body()).contains("X-Tier: gold\n");
    }

    @Test
    void eventsComeOneByOne() throws Exception {
        HttpResponse<String> events = get("/sse?count=3&interval=5");

        assertThat(type(events)).isEqualTo("text/event-stream");
        String event = "id: %1$d\nevent: tick\ndata: %1$d of 3\n\n";
        assertThat(events.body()).isEqualTo(event.formatted(1) + event.formatted(2) + event.formatted(3));
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        String first = "GET /delay/40 HTTP/1.1\r\nHost: a\r\n\r\n";
        String second = "POST /echo?raw HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        String third = "GET /status/418 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        String answers = exchange(first + second + third);

        assertThat(answers.split("HTTP/1.1 ", -1)).hasSize(4);
        assertThat(answers.indexOf("after 40 ms")).isBetween(1, answers.indexOf("\r\n\r\nhi"));
        assertThat(answers.indexOf("\r\n\r\nhi")).isLessThan(answers.indexOf("HTTP/1.1 418"));
    }

    @Test
    void trailersAreEchoed() throws Exception {
        String head = "POST /echo?raw HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked";
        String body = "\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 5\r\n\r\n";

        assertThat(exchange(head + body)).endsWith(body);
    }

    @Test
    void anOldClientGetsAnEchoThatEndsWithTheConnection() throws Exception {
        String echo = exchange("POST /echo HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi");

        assertThat(echo.toLowerCase(Locale.ROOT)).doesNotContain("transfer-encoding");
        assertThat(echo).endsWith("\n\nhi");
    }

    @Test
    void aClientThatWaitsForContinueGetsIt() throws Exception {
        assertThat(exchange("POST /echo?raw HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n"
                        + "Content-Length: 2\r\n\r\nhi"))
                .startsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
                .endsWith("\r\n\r\nhi");
    }

    @Test
    void whatIsNoRequestIsRefusedAndTheConnectionClosed() throws Exception {
        assertThat(exchange("nonsense\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    }

    @Test
    void aWebSocketEchoes() throws Exception {
        CompletableFuture<String> text = new CompletableFuture<>();
        CompletableFuture<Integer> binary = new CompletableFuture<>();
        CompletableFuture<String> pong = new CompletableFuture<>();
        CompletableFuture<Integer> closed = new CompletableFuture<>();
        WebSocket socket = client.newWebSocketBuilder()
                .buildAsync(URI.create("ws://localhost:" + demo.port() + "/ws"), new WebSocket.Listener() {
                    private final StringBuilder parts = new StringBuilder();
                    private int bytes;

                    @Override
                    public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
                        parts.append(data);
                        if (last) {
                            text.complete(parts.toString());
                        }
                        webSocket.request(1);
                        return CompletableFuture.completedFuture(null);
                    }

                    @Override
                    public CompletionStage<?> onBinary(WebSocket webSocket, ByteBuffer data, boolean last) {
                        bytes += data.remaining();
                        if (last) {
                            binary.complete(bytes);
                        }
                        webSocket.request(1);
                        return CompletableFuture.completedFuture(null);
                    }

                    @Override
                    public CompletionStage<?> onPong(WebSocket webSocket, ByteBuffer message) {
                        pong.complete(StandardCharsets.UTF_8.decode(message).toString());
                        webSocket.request(1);
                        return CompletableFuture.completedFuture(null);
                    }

                    @Override
                    public CompletionStage<?> onClose(WebSocket webSocket, int statusCode, String reason) {
                        closed.complete(statusCode);
                        return CompletableFuture.completedFuture(null);
                    }
                })
                .get(20, TimeUnit.SECONDS);

        socket.sendText("hello, ", false).get(20, TimeUnit.SECONDS);
        socket.sendText("world", true).get(20, TimeUnit.SECONDS);
        assertThat(text.get(20, TimeUnit.SECONDS)).isEqualTo("hello, world");
        socket.sendBinary(ByteBuffer.allocate(1_000_000), true).get(20, TimeUnit.SECONDS);
        assertThat(binary.get(20, TimeUnit.SECONDS)).isEqualTo(1_000_000);
        socket.sendPing(StandardCharsets.UTF_8.encode("ping")).get(20, TimeUnit.SECONDS);
        assertThat(pong.get(20, TimeUnit.SECONDS)).isEqualTo("ping");
        socket.sendClose(4000, "bye").get(20, TimeUnit.SECONDS);
        assertThat(closed.get(20, TimeUnit.SECONDS)).isEqualTo(4000);
    }
}
