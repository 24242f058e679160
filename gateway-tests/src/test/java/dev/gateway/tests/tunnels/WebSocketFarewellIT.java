package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.demo.DemoUpstream;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's WebSocket when the gateway has a reason to end it, and pages that may open none. */
class WebSocketFarewellIT {
    private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";

    private DemoUpstream demo;

    @BeforeEach
    void start() throws InterruptedException {
        demo = DemoUpstream.start(0);
    }

    @AfterEach
    void stop() {
        demo.close();
    }

    /** What a client was told. */
    private static final class Told implements WebSocket.Listener {
        final CompletableFuture<String> text = new CompletableFuture<>();
        final CompletableFuture<Integer> closed = new CompletableFuture<>();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            text.complete(data.toString());
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            closed.complete(code);
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            closed.completeExceptionally(error);
        }

        int code() throws Exception {
            return closed.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static WebSocket open(Rig rig, Told told, String... fields) {
        WebSocket.Builder builder = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .connectTimeout(Duration.ofMillis(Peer.PATIENCE_MILLIS));
        for (int i = 0; i < fields.length; i += 2) {
            builder.header(fields[i], fields[i + 1]);
        }
        return builder.buildAsync(URI.create("ws://localhost:" + rig.port() + "/ws"), told)
                .join();
    }

    private static void assertEchoes(WebSocket socket, Told told) throws Exception {
        socket.sendText("hello", true).join();
        assertThat(told.text.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo("hello");
    }

    @Test
    void aGatewayThatStopsTellsItsWebSocketsToGo() throws Exception {
        try (Rig rig =
                Rig.to(demo.port()).top("drain: {acceptFor: 0s, timeout: 20s}").start()) {
            Told told = new Told();
            WebSocket socket = open(rig, told);
            assertEchoes(socket, told);
            rig.stop();
            assertThat(told.code()).isEqualTo(1001);
            List<String> log = rig.awaitAccessLog(2);
            assertThat(log.get(1))
                    .contains("\"kind\":\"websocket\",\"record\":\"close\"")
                    .contains("\"cause\":\"drain\"")
                    .contains("\"endedBy\":\"gateway\"");
        }
    }

    @Test
    void aWebSocketThatIsSilentForTooLongIsToldSo() throws Exception {
        try (Rig rig = Rig.to(demo.port()).rule("webSocket: {idle: 300ms}").start()) {
            Told told = new Told();
            WebSocket socket = open(rig, told);
            assertEchoes(socket, told);
            assertThat(told.code()).isEqualTo(1001);
            List<String> log = rig.awaitAccessLog(2);
            assertThat(log.get(0)).contains("\"record\":\"open\"").contains("\"method\":\"GET\"");
            assertThat(log.get(1)).contains("\"cause\":\"idle_timeout\"");
            assertThat(rig.metric("gateway_websockets_total", "route=\"all\"", "cause=\"idle_timeout\""))
                    .isEqualTo(1);
            assertThat(rig.metric("gateway_websockets_active")).isZero();
        }
    }

    @Test
    void onlyPagesOfAllowedOriginsOpenAWebSocket() throws Exception {
        try (Rig rig = Rig.to(demo.port())
                .rule("webSocket: {allowedOrigins: [\"https://app.example.com\"]}")
                .start()) {
            Told told = new Told();
            WebSocket socket = open(rig, told, "Origin", "https://app.example.com");
            assertEchoes(socket, told);
            socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
            assertThat(told.code()).isEqualTo(1000);
            assertThatThrownBy(() -> open(rig, new Told(), "Origin", "https://evil.example.com"))
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOfSatisfying(WebSocketHandshakeException.class, refusal -> assertThat(
                                    refusal.getResponse().statusCode())
                            .isEqualTo(403));
        }
    }

    @Test
    void aRouteThatListsNoUpgradeAnswersAsIfNoneWasAskedFor() throws Exception {
        try (Rig rig = Rig.to(demo.port()).rule("upgrades: []").start()) {
            assertThatThrownBy(() -> open(rig, new Told()))
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOfSatisfying(WebSocketHandshakeException.class, refusal -> assertThat(
                                    refusal.getResponse().statusCode())
                            .isEqualTo(426));
        }
    }

    /** A client and an upstream that never answer a Close frame are left in order all the same: neither sees a reset. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWebSocketThatIsEndedGetsACloseFrameAndThenFin(boolean drained) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Rig rig = Rig.to(server.getLocalPort())
                        .rule(drained ? "webSocket: {idle: 1h}" : "webSocket: {idle: 300ms}")
                        .top("drain: {acceptFor: 0s, timeout: 2s}")
                        .start();
                Socket client = new Socket(InetAddress.getLoopbackAddress(), rig.port())) {
            client.setSoTimeout(Peer.PATIENCE_MILLIS);
            client.getOutputStream()
                    .write(("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            try (Socket upstream = server.accept()) {
                upstream.setSoTimeout(Peer.PATIENCE_MILLIS);
                Matcher key = Pattern.compile("(?i)sec-websocket-key: (\\S+)").matcher(head(upstream));
                assertThat(key.find()).isTrue();
                byte[] digest = MessageDigest.getInstance("SHA-1")
                        .digest((key.group(1) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                                .getBytes(StandardCharsets.US_ASCII));
                upstream.getOutputStream()
                        .write(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                        + "Sec-WebSocket-Accept: "
                                        + Base64.getEncoder().encodeToString(digest) + "\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                assertThat(head(client)).startsWith("HTTP/1.1 101 ");
                CompletableFuture<Void> stopped =
                        drained ? CompletableFuture.runAsync(rig::stop) : CompletableFuture.completedFuture(null);
                assertThat(client.getInputStream().readAllBytes()).containsExactly(0x88, 2, 1001 >> 8, (byte) 1001);
                assertThat(upstream.getInputStream().read()).isEqualTo(-1);
                stopped.get(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            }
            assertThat(rig.awaitAccessLog(2).get(1))
                    .contains(drained ? "\"cause\":\"drain\"" : "\"cause\":\"idle_timeout\"")
                    .contains("\"endedBy\":\"gateway\"");
        }
    }

    private static String head(Socket socket) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                throw new IOException("ended after: " + head);
            }
            head.append((char) next);
        }
        return head.toString();
    }
}
