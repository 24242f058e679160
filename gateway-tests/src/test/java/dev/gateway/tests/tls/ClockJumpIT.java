package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The clock on the wall is set while the gateway is at work, and set right again. What takes time takes as long as ever,
 * and what tells the time of day tells the new one.
 */
@Tag("jar")
@Tag("platform")
@Timeout(120)
class ClockJumpIT {
    private static final Pattern LOGGED = Pattern.compile("\"time\":\"([^\"]+)\"");

    @TempDir
    private Path directory;

    private Path offset() {
        return directory.resolve("offset");
    }

    /** Sets the clock of the gateway to that of this machine and so much. */
    private void setClock(long seconds) throws IOException {
        ByteBuffer value =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(seconds);
        try (FileChannel file = FileChannel.open(offset(), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(value.flip(), 0);
        }
    }

    private GatewayJar start(int origin) throws Exception {
        Path library = directory.resolve("clock.so");
        Tools.Result compiled =
                Tools.run(Tools.find("gcc"), "-shared", "-fPIC", "-O", "-o", library.toString(), "clock/clock.c");
        assertThat(compiled.exit()).as(compiled.output()).isZero();
        setClock(0);
        return GatewayJar.of(
                        """
                        workers: 1
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - name: secure
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {selfSigned: true, selfSignedDirectory: tls}
                        routes:
                          - rules:
                              - matches: [{path: {type: Exact, value: /silent}}]
                                backendRefs: [{name: app}]
                                timeouts: {backendRequest: 300ms}
                              - {backendRefs: [{name: app}], timeouts: {request: 90s}}
                        upstreams:
                          - name: app
                            endpoints: [{host: 127.0.0.1, port: %d}]
                            healthChecks: {active: {path: /health, interval: 200ms}}
                            timeouts: {responseHeaders: 60s, idle: 60s}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(origin))
                .under("env", "LD_PRELOAD=" + library, "CLOCK_OFFSET=" + offset())
                .start();
    }

    @ParameterizedTest
    @ValueSource(longs = {3600, -3600})
    void everythingGoesOn(long jump) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start()
                        .on("/", Behaviors.text("ok"))
                        .on("/health", Behaviors.text("ok"))
                        .on("/silent", Behaviors.silence())
                        .on("/slow", (stream, head) -> {
                            arrived.countDown();
                            goOn.await();
                            Behaviors.text("ok").serve(stream, head);
                        });
                GatewayJar gateway = start(origin.port());
                Peer client = Peers.HTTP1.connect(gateway.port("web"));
                Peer slow = Peers.HTTP1.connect(gateway.port("web"))) {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            resume(tls, gateway.port("secure"));
            ask(client);
            PeerStream underWay = slow.open();
            underWay.send(Head.request("GET", "/slow"), true);
            arrived.await();

            setClock(jump);
            assertTellsTime(gateway, client, jump);
            // No limit of time has come early, and the next one comes.
            goOn.countDown();
            assertServed(underWay);
            PeerStream silent = client.open();
            silent.send(Head.request("GET", "/silent"), true);
            Head timedOut = silent.receiveFinal();
            assertThat(timedOut.status()).isEqualTo(504);
            assertNow(jump, date(timedOut));
            silent.receiveBody();
            awaitChecks(gateway, origin);
            origin.on("/health", (stream, head) -> stream.send(Head.response(500), true));
            gateway.await("the endpoint's failure", () -> state(gateway).equals("unhealthy"));
            origin.on("/health", Behaviors.text("ok"));
            gateway.await("the endpoint's recovery", () -> state(gateway).equals("healthy"));
            resume(tls, gateway.port("secure"));

            setClock(0);
            assertTellsTime(gateway, client, 0);
            awaitChecks(gateway, origin);
            ask(client);
            resume(tls, gateway.port("secure"));
            assertThat(gateway.admin("/healthz", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            assertThat(gateway.metric("gateway_upstream_connection_closed_total", "cause=\"idle_timeout\""))
                    .isZero();
            assertThat(gateway.log()).doesNotContain("Exception", "ERROR");
        }
    }

    /** Asserts that what the gateway says next of the time is by the clock as it is now. */
    private static void assertTellsTime(GatewayJar gateway, Peer client, long offset) throws Exception {
        Path file = gateway.directory().resolve("access.log");
        gateway.await("a line that tells the time", () -> {
            try {
                ask(client); // again, since an event loop keeps what it has read of the clock for a millisecond
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            List<String> lines = lines(file);
            Matcher last = LOGGED.matcher(lines.isEmpty() ? "" : lines.get(lines.size() - 1));
            return last.find() && isNow(offset, Instant.parse(last.group(1)));
        });
        assertNow(
                offset,
                Instant.ofEpochMilli(
                        gateway.json("/stats?format=json").get("time").asLong()));
    }

    private static void assertNow(long offset, Instant told) {
        assertThat(isNow(offset, told)).as("%s", told).isTrue();
    }

    private static boolean isNow(long offset, Instant told) {
        Duration difference = Duration.between(Instant.now().plusSeconds(offset), told);
        return difference.abs().compareTo(Duration.ofMinutes(5)) < 0;
    }

    private static Instant date(Head head) {
        return ZonedDateTime.parse(head.get("date").orElseThrow(), DateTimeFormatter.RFC_1123_DATE_TIME)
                .toInstant();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    private static void awaitChecks(GatewayJar gateway, Origin origin) throws IOException {
        int before = origin.requests("/health").size();
        gateway.await("further health checks", () -> origin.requests("/health").size() >= before + 2);
    }

    private static String state(GatewayJar gateway) {
        try {
            return gateway.json("/upstreams")
                    .at("/upstreams/0/endpoints/0/state")
                    .asText();
        } catch (IOException | InterruptedException e) {
            return "";
        }
    }

    /** Connects, with the ticket of the last time if there was one, and has a request served. */
    private static void resume(SSLContext context, int port) throws IOException {
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(20));
            socket.getOutputStream()
                    .write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .contains(" 200 ")
                    .endsWith("ok");
        }
    }

    private static void ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertServed(stream);
    }

    private static void assertServed(PeerStream stream) throws IOException {
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }
}
