package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayProcess;
import dev.gateway.tests.support.OutputLines;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code gateway demo}, the first thing that new users run, with the configuration that it contains but for its ports. */
@Timeout(120)
class DemoIT {
    private static final Pattern URL = Pattern.compile("(HTTP/1.1 and h2c|over TLS|Dashboard): +(\\w+://\\S+)");

    @TempDir
    private Path directory;

    private Path config(int upstreamPort) throws IOException {
        String yaml = Files.readString(Path.of("../config/quickstart.yaml"))
                .replaceAll("port: (8080|8443|9901)", "port: 0")
                .replace("port: 9000", "port: " + upstreamPort);
        return Files.writeString(directory.resolve("gateway.yaml"), yaml);
    }

    private Process demo(int upstreamPort) throws IOException {
        Path config = config(upstreamPort);
        List<String> command = new ArrayList<>(GatewayProcess.command(config));
        command.set(command.indexOf("run"), "demo");
        command.addAll(List.of("--upstream-port", Integer.toString(upstreamPort)));
        command.set(command.indexOf("-cp") + 1, absolute(command.get(command.indexOf("-cp") + 1)));
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
    }

    private static String absolute(String classPath) {
        return String.join(
                ":",
                List.of(classPath.split(":")).stream()
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }

    @Test
    void whatTheDemoPrintsCanBeTried() throws Exception {
        Process process = demo(Tools.freePort());
        try {
            OutputLines output = new OutputLines(process);
            Map<String, URI> urls = new HashMap<>();
            for (String line = output.next(); !line.startsWith("Stop with"); line = output.next()) {
                Matcher matcher = URL.matcher(line);
                if (matcher.find()) {
                    urls.put(matcher.group(1), URI.create(matcher.group(2)));
                }
            }
            assertThat(urls).containsOnlyKeys("HTTP/1.1 and h2c", "over TLS", "Dashboard");
            int clear = urls.get("HTTP/1.1 and h2c").getPort();
            int secure = urls.get("over TLS").getPort();
            assertThat(get(Peers.HTTP1, clear, "/headers")).contains("X-Forwarded-For: 127.0.0.1", "X-Request-Id: ");
            assertThat(get(Peers.H2C, clear, "/tiles?latency=7"))
                    .contains("<html")
                    .contains("<a href=\"https://localhost:" + secure + "/tiles?latency=7\">HTTP/2 over TLS</a>")
                    .contains("<a href=\"http://localhost:" + clear + "/tiles?latency=7\">HTTP/1.1</a>");
            assertThat(get(Peers.H2_TLS, secure, "/headers")).contains("X-Forwarded-Proto: https");
            assertThat(get(Peers.HTTP1, urls.get("Dashboard").getPort(), "/dashboard"))
                    .contains("<html");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static String get(Peers protocol, int port, String path) throws IOException {
        try (Peer client = protocol.connect(port)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path, "host", "localhost:" + port), true);
            assertThat(stream.receiveFinal().status()).as(path).isEqualTo(200);
            return stream.receiveBody();
        }
    }
}
