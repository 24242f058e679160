package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviours;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.Peers;
import java.io.BufferedReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that is told to end while clients use it. */
@Timeout(120)
class TerminationIT {
    private static final Pattern PORT = Pattern.compile(":(\\d+)/");

    @TempDir
    private Path directory;

    @Test
    void aProcessToldToEndFailsNobodyAndExitsWithZero() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviours.text("ok"))) {
            Path config = Files.writeString(
                    directory.resolve("gateway.yaml"),
                    """
                    listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                    admin: {address: 127.0.0.1, port: 0}
                    accessLog: {format: off}
                    drain: {timeout: 25s, acceptFor: 12s}
                    """
                            .formatted(origin.port()));
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "dev.gateway.Main",
                            "run",
                            "--config",
                            config.toString(),
                            "--log-level",
                            "info") // the tests' own configuration of the log has less
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader log = process.inputReader(StandardCharsets.UTF_8)) {
                int port = port(log, "Listener web at ");
                int admin = port(log, "Admin at ");
                ConstantLoad http1 = ConstantLoad.start(Peers.HTTP1, port, 3);
                ConstantLoad http2 = ConstantLoad.start(Peers.H2C, port, 3);
                process.toHandle().destroy(); // SIGTERM; Process.destroy would close its output too
                awaitNotReady(admin);
                http1.moveTo(port); // where connections are still accepted, though load balancers make no more
                http2.moveTo(port);
                http1.stop();
                http2.stop();
                assertThat(process.isAlive()).isTrue();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
                assertThatThrownBy(() -> Peers.HTTP1.connect(port)).isInstanceOf(ConnectException.class);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static int port(BufferedReader log, String announcement) throws Exception {
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            Matcher matcher = PORT.matcher(line);
            if (line.contains(announcement) && matcher.find()) {
                return Integer.parseInt(matcher.group(1));
            }
        }
        throw new AssertionError("it did not start");
    }

    private static void awaitNotReady(int admin) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + "/ready"))
                .timeout(Duration.ofMillis(Peer.PATIENCE_MILLIS))
                .build();
        while (client.send(request, BodyHandlers.discarding()).statusCode() == 200) {
            LockSupport.parkNanos(1_000_000); // as a load balancer asks
        }
    }
}
