package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example in the Javadoc of {@link Gateway} and in the README, line by line. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class EmbeddingTest {
    private static final Path SOURCES = Path.of("src");

    @TempDir
    Path directory;

    private final List<String> answers = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();
    private int port;

    private Path file(String answer) throws IOException {
        return Files.writeString(
                directory.resolve(answer + ".yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - filters: [{type: DirectResponse, directResponse: {statusCode: 200, body: %s}}]
                accessLog: {format: "off"}
                workers: 1
                """
                        .formatted(answer));
    }

    private void use(int at) throws Exception {
        port = at;
        URI uri = URI.create("http://127.0.0.1:" + at + "/");
        answers.add(client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body());
    }

    @Test
    void anApplicationStartsReloadsAndDrainsAGateway() throws Exception {
        Path file = file("first");
        GatewayConfig next = ((LoadResult.Valid) ConfigLoader.load(file("second"))).config();

        if (!(ConfigLoader.load(file) instanceof LoadResult.Valid loaded)) {
            throw new IllegalStateException("see its problems");
        }
        try (Gateway gateway = Gateway.start(loaded.config())) {
            use(gateway.port("web"));
            gateway.reload(next); // cuts nothing that runs
            use(gateway.port("web"));
            gateway.drain(); // finishes what runs; close alone ends it
        }

        assertThat(answers).containsExactly("first", "second");
        assertThatThrownBy(() -> use(port)).isInstanceOf(ConnectException.class);
    }

    @Test
    void theExampleInTheJavadocIsWhatRunsHere() throws IOException {
        String javadoc = Files.readString(SOURCES.resolve("main/java/dev/gateway/Gateway.java"));
        String example = javadoc.substring(javadoc.indexOf("<pre>{@code") + 11, javadoc.indexOf("}</pre>"));
        String told = example.lines()
                .map(line -> line.replaceFirst("^ \\* ?", ""))
                .filter(line -> !line.isBlank())
                .collect(Collectors.joining("\n"));
        assertThat(thisFile()).contains(told);
    }

    @Test
    void theExampleInTheReadmeIsWhatRunsHereAndItsDependencyIsThisModule() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        String section =
                readme.substring(readme.indexOf("\n## Embed it\n"), readme.indexOf("\n## What is not here yet"));
        String told = section.lines()
                .filter(line -> line.startsWith("    ") && !line.contains("<dependency>"))
                .map(line -> line.substring(4))
                .collect(Collectors.joining("\n"));
        assertThat(told).startsWith("if (!(ConfigLoader").endsWith("}");
        assertThat(thisFile()).contains(told);
        String pom = Files.readString(Path.of("pom.xml"));
        String version = pom.substring(pom.indexOf("<version>"), pom.indexOf("</version>"));
        assertThat(section)
                .contains(
                        "<groupId>dev.gateway</groupId><artifactId>gateway-core</artifactId>" + version + "</version>");
    }

    private static String thisFile() throws IOException {
        String test = Files.readString(SOURCES.resolve("test/java/dev/gateway/EmbeddingTest.java"));
        return test.lines().map(line -> line.replaceFirst("^ {8}", "")).collect(Collectors.joining("\n"));
    }
}
