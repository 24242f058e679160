package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is told to end answers everybody who has reached it, and then ends soon. */
@Tag("jar")
@Timeout(120)
@Tag("platform")
class GracefulStopIT {
    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    private final List<Socket> clients = new ArrayList<>();

    @AfterEach
    void closeClients() throws IOException {
        for (Socket each : clients) {
            each.close();
        }
    }

    private static GatewayJar start(Origin origin) throws IOException {
        return GatewayJar.of(
                        """
                        listeners:
                          - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}}
                          - name: proxied
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTP
                            proxyProtocol: {trustedCidrs: [127.0.0.1/32]}
                            timeouts: {requestHeaders: 100s}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        drain: {timeout: 100s}
                        """
                                .formatted(origin.port()))
                .start();
    }

    private Socket connect(int port) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.setSoTimeout(20_000);
        clients.add(client);
        return client;
    }

    private static void ask(Socket client) throws IOException {
        client.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns an answer, which is whole once its body has come, or the reason why there is none. */
    private static String answer(Socket client) {
        StringBuilder answer = new StringBuilder();
        try {
            InputStream in = client.getInputStream();
            while (!answer.toString().endsWith("\r\n\r\nok")) {
                int next = in.read();
                if (next < 0) {
                    return answer + " and the end";
                }
                answer.append((char) next);
            }
            return answer.toString();
        } catch (IOException e) {
            return answer + " and " + e;
        }
    }

    @Test
    void whoWaitsToBeAcceptedIsServed() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            Socket warm = connect(gateway.port("web"));
            ask(warm);
            assertThat(answer(warm)).startsWith("HTTP/1.1 200");
            gateway.signal("STOP");
            for (int i = 0; i < 1000; i++) {
                ask(connect(gateway.port("web"))); // the kernel takes it all
            }
            gateway.signal("TERM");
            gateway.signal("CONT");
            List<String> lost = clients.subList(1, clients.size()).stream()
                    .map(GracefulStopIT::answer)
                    .filter(answer -> !answer.startsWith("HTTP/1.1 200"))
                    .toList();
            assertThat(lost).as(gateway::log).isEmpty();
            assertThat(gateway.awaitExit(Duration.ofSeconds(60))).isZero();
        }
    }

    @Test
    void whoWaitsToBeAcceptedByAListenerThatAReloadRemovesIsServed() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            Socket warm = connect(gateway.port("web"));
            ask(warm);
            assertThat(answer(warm)).startsWith("HTTP/1.1 200");
            Path file = gateway.directory().resolve("gateway.yaml");
            String without = Files.readString(file).replaceFirst("(?m)^ *- \\{name: web,.*\n", "");
            gateway.signal("STOP");
            Files.writeString(file, without);
            for (int i = 0; i < 1000; i++) {
                ask(connect(gateway.port("web"))); // the kernel takes it all
            }
            gateway.signal("HUP");
            gateway.signal("CONT");
            List<String> lost = clients.subList(1, clients.size()).stream()
                    .map(GracefulStopIT::answer)
                    .filter(answer -> !answer.startsWith("HTTP/1.1 200"))
                    .toList();
            assertThat(lost).as(gateway::log).isEmpty();
            gateway.await(
                    "the reload",
                    () -> gateway.log().contains("Listener web at")
                            && gateway.log().contains(" drains"));
        }
    }

    /** A client that has begun its handshake is somebody who has reached the gateway, too. */
    @Test
    void whoWaitsToBeAcceptedOverTlsIsServed() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            assertThat(askOverTls(connect(gateway.port("secure")))).startsWith("HTTP/1.1 200"); // loads the classes
            gateway.signal("STOP");
            ExecutorService handshakes = Executors.newCachedThreadPool();
            try {
                List<Future<String>> answers = new ArrayList<>();
                CountDownLatch begun = new CountDownLatch(50);
                for (int i = 0; i < 50; i++) {
                    Socket client = new BeginningSocket(gateway.port("secure"), begun);
                    client.setSoTimeout(20_000);
                    clients.add(client);
                    answers.add(handshakes.submit(() -> askOverTls(client)));
                }
                assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
                gateway.signal("TERM");
                gateway.signal("CONT");
                for (Future<String> each : answers) {
                    assertThat(each.get()).startsWith("HTTP/1.1 200");
                }
            } finally {
                handshakes.shutdownNow();
            }
            assertThat(gateway.awaitExit(Duration.ofSeconds(60))).isZero();
        }
    }

    /** Tells when its client has sent something, such as the begin of a handshake. */
    private static final class BeginningSocket extends Socket {
        private final CountDownLatch begun;
        private boolean told;

        BeginningSocket(int port, CountDownLatch begun) throws IOException {
            super(InetAddress.getLoopbackAddress(), port);
            this.begun = begun;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    out.write(bytes, from, length);
                    if (!told) {
                        told = true;
                        begun.countDown();
                    }
                }
            };
        }
    }

    private static String askOverTls(Socket client) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        Socket tls = context.getSocketFactory().createSocket(client, "localhost", client.getPort(), true);
        ask(tls);
        return answer(tls);
    }

    @Test
    void aRequestOnAKeptConnectionIsToldThatItIsTheLast() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            for (int i = 0; i < 20; i++) {
                Socket client = connect(gateway.port("web"));
                ask(client);
                assertThat(answer(client)).startsWith("HTTP/1.1 200").doesNotContain("Connection: close");
            }
            gateway.signal("TERM");
            gateway.await("the beginning of the drain", () -> gateway.log().contains("Draining"));
            for (Socket each : clients) {
                ask(each);
            }
            for (Socket each : clients) {
                assertThat(answer(each)).startsWith("HTTP/1.1 200").contains("Connection: close");
            }
            assertThat(gateway.awaitExit(Duration.ofSeconds(60))).isZero();
        }
    }

    @Test
    void whoSaysNothingDoesNotDelayTheEnd() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            Socket kept = connect(gateway.port("web"));
            ask(kept);
            assertThat(answer(kept)).startsWith("HTTP/1.1 200");
            connect(gateway.port("web"));
            connect(gateway.port("proxied"));
            gateway.signal("TERM");
            assertThat(gateway.awaitExit(Duration.ofSeconds(40))).isZero(); // 100 s is for those who are at work
        }
    }

    @Test
    void nothingIsLostUnderLoad() throws Exception {
        AtomicInteger answered = new AtomicInteger();
        ConcurrentLinkedQueue<String> lost = new ConcurrentLinkedQueue<>();
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = start(origin)) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port("web"));
            List<Thread> load = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                Thread client = new Thread(() -> useUntilRefused(address, answered, lost));
                client.start();
                load.add(client);
            }
            gateway.await("some load", () -> answered.get() > 2000);
            gateway.signal("TERM");
            for (Thread each : load) {
                each.join();
            }
            assertThat(gateway.awaitExit(Duration.ofSeconds(60))).isZero();
            if (gateway.log().contains("the system permits no socket filter")) {
                Tools.missing("this user may attach no socket filter (CAP_BPF)");
            }
            assertThat(lost).isEmpty();
        }
    }

    /** Five requests a connection, and then the next, until nobody listens any more. Who does not get in loses nothing. */
    private static void useUntilRefused(
            InetSocketAddress address, AtomicInteger answered, ConcurrentLinkedQueue<String> lost) {
        while (true) {
            try (Socket client = new Socket()) {
                client.setSoTimeout(20_000);
                try {
                    client.connect(address, 20_000);
                } catch (IOException refused) {
                    return;
                }
                String answer = "";
                for (int i = 0; i < 5 && !answer.contains("Connection: close"); i++) {
                    ask(client);
                    answer = answer(client);
                    if (answer.endsWith("ok")) {
                        answered.incrementAndGet();
                    } else {
                        lost.add(answer);
                    }
                }
            } catch (IOException e) {
                lost.add(e.toString());
            }
        }
    }
}
