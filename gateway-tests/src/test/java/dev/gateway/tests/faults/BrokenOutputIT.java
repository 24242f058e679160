package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.GatewayProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An access log on standard output that nobody reads any more, or that is on a full disk, of a process of its own. */
@Timeout(120)
class BrokenOutputIT {
    private static final Pattern PORT = Pattern.compile("(Listener web|Admin) at http://[^:]+:(\\d+)/");
    private static final String DROPPED = "gateway_accesslog_dropped_total ";
    private static final String COMPLAINT = "Cannot write the access log";

    private static final String CLASS_PATH = System.getProperty("java.class.path");

    @TempDir
    private Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private int admin;

    private Process start(Origin origin, Redirect output) throws IOException {
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(origin.port()));
        List<String> command = new ArrayList<>(GatewayProcess.command(config));
        // Without the tests' own configuration of the log, which goes to standard output.
        command.replaceAll(word -> word.equals(CLASS_PATH) ? withoutTests() : word);
        return new ProcessBuilder(command)
                .redirectOutput(output)
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    private static String withoutTests() {
        return Stream.of(CLASS_PATH.split(File.pathSeparator))
                .filter(each -> !each.endsWith("test-classes"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Waits until it serves, and returns the port. */
    private int awaitPort(Process process) throws Exception {
        int port = 0;
        admin = 0;
        while (port == 0 || admin == 0) {
            assertThat(process.isAlive()).as(errors()).isTrue();
            Matcher matcher = PORT.matcher(errors());
            while (matcher.find()) {
                if (matcher.group(1).equals("Admin")) {
                    admin = Integer.parseInt(matcher.group(2));
                } else {
                    port = Integer.parseInt(matcher.group(2));
                }
            }
            LockSupport.parkNanos(10_000_000);
        }
        return port;
    }

    private String errors() throws IOException {
        Path file = directory.resolve("err");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    private void awaitDropped(int count) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + "/metrics"))
                .timeout(Duration.ofMillis(Peer.PATIENCE_MILLIS))
                .build();
        while (!client.send(request, BodyHandlers.ofString()).body().contains(DROPPED + count + ".0\n")) {
            LockSupport.parkNanos(20_000_000); // ended by the test's timeout
        }
    }

    private static void get(int port) throws IOException {
        try (Http1Peer peer = Http1Peer.connect(port)) {
            PeerStream stream = peer.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            stream.receiveBody();
        }
    }

    private static void end(Process process) throws InterruptedException {
        process.toHandle().destroy();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    private void twoLinesAreCountedAndToldOnce(Process process, int port) throws Exception {
        get(port);
        awaitDropped(1);
        get(port);
        awaitDropped(2);
        end(process);
        assertThat(errors()).containsOnlyOnce(COMPLAINT);
    }

    @Test
    void linesThatNobodyReadsAreCountedAndToldOnce() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            Process process = start(origin, Redirect.PIPE);
            try {
                int port = awaitPort(process);
                get(port);
                try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
                    assertThat(output.readLine()).startsWith("{\"time\":").contains("\"status\":200"); // as head -1
                }
                twoLinesAreCountedAndToldOnce(process, port);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void linesThatFindAFullDiskAreCountedAndToldOnce() throws Exception {
        File full = new File("/dev/full");
        assumeTrue(full.exists(), "no /dev/full");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            Process process = start(origin, Redirect.to(full));
            try {
                int port = awaitPort(process);
                twoLinesAreCountedAndToldOnce(process, port);
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
