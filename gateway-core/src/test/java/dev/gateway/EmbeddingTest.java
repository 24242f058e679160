package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.testing.LoggedLines;
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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
            gateway.reload(next); // keeps running exchanges
            use(gateway.port("web"));
            gateway.drain(); // finishes running exchanges; close alone ends them
        }

        assertThat(answers).containsExactly("first", "second");
        assertThatThrownBy(() -> use(port)).isInstanceOf(ConnectException.class);
    }

    @Test
    void anApplicationGetsTheLinesOfTheAccessLog() throws Exception {
        String yaml = Files.readString(file("first")).replace("accessLog: {format: \"off\"}\n", "");
        GatewayConfig config = ((LoadResult.Valid) ConfigLoader.parse(yaml)).config();
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        GatewayOptions options = GatewayOptions.defaults().withAccessLog(lines::add);
        try (Gateway gateway = Gateway.start(config, options)) {
            use(gateway.port("web"));
            assertThat(lines.poll(30, TimeUnit.SECONDS))
                    .startsWith("{")
                    .contains("\"path\":\"/\"")
                    .endsWith("}");
        }
    }

    @Test
    void withoutOptionsTheLinesGoToALoggerOfTheApplication() throws Exception {
        String yaml = Files.readString(file("first")).replace("accessLog: {format: \"off\"}\n", "");
        GatewayConfig config = ((LoadResult.Valid) ConfigLoader.parse(yaml)).config();
        try (LoggedLines log = LoggedLines.of("dev.gateway.accesslog").unseen().from(Level.INFO);
                Gateway gateway = Gateway.start(config)) {
            use(gateway.port("web"));
            ILoggingEvent line = log.next();
            assertThat(line.getLevel()).isEqualTo(Level.INFO);
            assertThat(line.getFormattedMessage())
                    .startsWith("{")
                    .contains("\"path\":\"/\"")
                    .endsWith("}");
        }
    }

    @Test
    void theExampleInTheJavadocIsWhatRunsHere() throws IOException {
        String javadoc = Files.readString(SOURCES.resolve("main/java/dev/gateway/Gateway.java"));
        String example = javadoc.substring(javadoc.indexOf("<pre>{@code") + 11, javadoc.indexOf("}</pre>"));
        assertThat(thisTest()).contains(joined(example.lines().map(line -> line.replaceFirst("^ \\* ?", ""))));
    }

    @Test
    void theExampleInTheDocumentIsWhatRunsHere() throws IOException {
        String page = Files.readString(Path.of("../docs/embedding.md"));
        int start = page.indexOf("```java\n") + 8;
        assertThat(thisTest())
                .contains(
                        joined(page.substring(start, page.indexOf("```", start)).lines()));
        String pom = Files.readString(Path.of("pom.xml"));
        String version = pom.substring(pom.indexOf("<version>"), pom.indexOf("</version>"));
        assertThat(page).contains("<artifactId>gateway-core</artifactId>" + version + "</version>");
    }

    private static String thisTest() throws IOException {
        String test = Files.readString(SOURCES.resolve("test/java/dev/gateway/EmbeddingTest.java"));
        return test.lines().map(line -> line.replaceFirst("^ {8}", "")).collect(Collectors.joining("\n"));
    }

    private static String joined(Stream<String> lines) {
        return lines.filter(line -> !line.isBlank()).collect(Collectors.joining("\n"));
    }
}
