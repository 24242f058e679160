package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lines of both logs can be put in order, and say what failed without the words of a library. */
@Tag("jar")
@Timeout(60)
class ProcessLogFormIT {
    /** What a start fails for is what somebody looks for in collected logs. */
    @Test
    void everyLineIsJsonFromTheFirstOnIfThatIsWanted(@TempDir Path directory) throws Exception {
        String yaml =
                """
                listeners: [{name: web, address: 127.0.0.1, port: %s, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                upstreams: [{name: unused, endpoints: [{host: 127.0.0.1, port: 9}]}]
                """;
        List<JsonNode> mistakes = lines(directory, yaml.formatted("many"), 1);
        assertThat(mistakes.get(0).get("level").asText()).isEqualTo("error");
        assertThat(mistakes.get(0).get("message").asText()).contains("gateway.yaml:1:51: port: expected");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<JsonNode> start = lines(directory, yaml.formatted(taken.getLocalPort()), 3);
            assertThat(start.get(0).get("level").asText()).isEqualTo("warn");
            assertThat(start.get(0).get("message").asText()).contains("no route uses the upstream 'unused'");
            assertThat(start).anyMatch(line -> line.get("message").asText().startsWith("cannot start: "));
        }
    }

    /** Runs the gateway until it ends, and returns what it has said. */
    private static List<JsonNode> lines(Path directory, String yaml, int exitCode) throws Exception {
        Path file = Files.writeString(directory.resolve("gateway.yaml"), yaml);
        Path said = directory.resolve("said.txt");
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-jar",
                        GatewayJar.file().toString(),
                        "run",
                        "--log-format",
                        "json",
                        file.toString())
                .redirectError(said.toFile())
                .start();
        assertThat(process.waitFor()).isEqualTo(exitCode);
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(said)) {
            if (!line.isEmpty() && !line.startsWith("WARNING: ")) { // of the JVM
                lines.add(new ObjectMapper().readTree(line));
            }
        }
        return lines;
    }

    @Test
    void linesBeginWithTheTimeInUtcAndFailuresAreInPlainWords() throws Exception {
        try (GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(ClosedPort.number()))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(gateway.log().lines().filter(line -> line.contains("INFO")))
                    .isNotEmpty()
                    .allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z INFO .*"));
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(502);
            gateway.awaitLog("\"cause\":\"connect_failed\"");
            assertThat(gateway.log()).contains("Connection refused").doesNotContain("failed with error");
        }
    }
}
