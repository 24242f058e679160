package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.testing.JarMaker;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.ConstantLoad;
import dev.gateway.tests.support.GatewayProcess;
import dev.gateway.tests.support.OutputLines;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that is told to end while clients use it. */
@Timeout(120)
@Tag("platform")
class TerminationIT {
    private static final Pattern PORT = Pattern.compile(":(\\d+)/");

    @TempDir
    private Path directory;

    @Test
    void aProcessToldToEndServesClientsUntilTheyHaveGoneElsewhere() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            Process process = start(origin, "100s"); // far more than all that follows may take
            try {
                OutputLines log = new OutputLines(process);
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
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void aProcessToldToEndExitsWithZero() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            Process process = start(origin, "0s");
            try {
                int port = port(new OutputLines(process), "Listener web at ");
                try (Peer idle = Peers.HTTP1.connect(port)) {
                    PeerStream stream = idle.open();
                    stream.send(Head.request("GET", "/"), true);
                    assertThat(stream.receiveFinal().status()).isEqualTo(200);
                    assertThat(stream.receiveBody()).isEqualTo("ok");
                    process.toHandle().destroy();
                    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                }
                assertThat(process.exitValue()).isZero();
                assertThatThrownBy(() -> Peers.HTTP1.connect(port)).isInstanceOf(ConnectException.class);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void aProcessToldToEndClosesItsPluginsAndLeavesNoCopiesOfTheirJars() throws Exception {
        Path closed = directory.resolve("closed");
        Path copies = Files.createDirectory(directory.resolve("tmp"));
        Path plugins = Files.createDirectory(directory.resolve("plugins")); // beside the configuration
        JarMaker.plugin(
                plugins.resolve("last.jar"),
                "Last",
                """
                import dev.gateway.filter.*;
                import dev.gateway.plugin.*;
                import java.nio.file.*;
                public class Last implements FilterPlugin {
                    public String type() { return "Last"; }
                    public String description() { return "Says when it is closed."; }
                    public Filter create(Settings settings) { return new Filter() {}; }
                    public void close() {
                        try {
                            Files.writeString(Path.of("%s"), "closed");
                        } catch (java.io.IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    }
                }
                """
                        .formatted(closed));
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            Process process = start(origin, "0s", "filters: [{type: Last, last: {}}], ", copies);
            try {
                port(new OutputLines(process), "Listener web at ");
                assertThat(copiesIn(copies)).hasSize(1);
                process.toHandle().destroy();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
                assertThat(closed).content().isEqualTo("closed");
                assertThat(copiesIn(copies)).isEmpty();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static List<Path> copiesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(each -> each.toString().endsWith(".jar")).toList();
        }
    }

    private Process start(Origin origin, String acceptFor) throws IOException {
        return start(origin, acceptFor, "", directory);
    }

    /** Starts it with filters, and a directory for temporary files. */
    private Process start(Origin origin, String acceptFor, String filters, Path temporary) throws IOException {
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{%sbackendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: off}
                drain: {timeout: 120s, acceptFor: %s}
                """
                        .formatted(filters, origin.port(), acceptFor));
        List<String> command = new ArrayList<>(GatewayProcess.command(config));
        command.add(1, "-Djava.io.tmpdir=" + temporary);
        command.addAll(List.of("--log-level", "info")); // the tests' own configuration of the log has less
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static int port(OutputLines log, String announcement) throws Exception {
        while (true) {
            String line = log.next();
            Matcher matcher = PORT.matcher(line);
            if (line.contains(announcement) && matcher.find()) {
                return Integer.parseInt(matcher.group(1));
            }
        }
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
