package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.ExampleProject;
import dev.gateway.tests.support.LoadedClasses;
import dev.gateway.tests.support.OutputLines;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The gateway as a guest: an application of its own depends on the artifact gateway-core, has its own log, and goes on. */
@Timeout(300)
class EmbeddedIT {
    private static final Pattern STARTED = Pattern.compile("started: (\\d+) (http\\S+)");

    @TempDir
    static Path built;

    private static Path jar;

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private Path log;

    @BeforeAll
    static void build() throws Exception {
        jar = ExampleProject.build(Path.of("embedding"), built, "-Dmaven.test.skip=true")
                .resolve("embedding.jar");
    }

    @AfterAll
    static void removeLinks() throws IOException {
        ExampleProject.removeLinks(built);
    }

    @BeforeEach
    void configure() throws IOException {
        log = directory.resolve("application.log");
        for (String answer : List.of("first", "second")) {
            Files.writeString(
                    directory.resolve(answer + ".yaml"),
                    """
                    listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: %s}}]}]}]
                    admin: {address: 127.0.0.1, port: 0}
                    accessLog: {format: "off"}
                    """
                            .formatted(answer));
        }
    }

    /** The application while it runs. */
    private final class Running implements AutoCloseable {
        final Process process;
        final int port;
        final String admin;
        private final OutputLines output;
        private final Writer commands;

        Running(String... arguments) throws Exception {
            List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx128m"));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectError(errors().toFile())
                    .start();
            output = new OutputLines(process);
            commands = process.outputWriter();
            String line = output.next();
            Matcher matcher = STARTED.matcher(line);
            assertThat(matcher.matches())
                    .as(line + "\n" + Files.readString(errors()))
                    .isTrue();
            port = Integer.parseInt(matcher.group(1));
            admin = matcher.group(2);
        }

        String ask(String command) throws Exception {
            commands.write(command + "\n");
            commands.flush();
            return output.next();
        }

        /** Asks again and again until the answer is this. */
        void await(String command, String answer) throws Exception {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            String last = ask(command);
            while (!last.equals(answer) && System.nanoTime() < deadline) {
                LockSupport.parkNanos(20_000_000);
                last = ask(command);
            }
            assertThat(last).isEqualTo(answer);
        }

        void closeGateway() throws Exception {
            assertThat(ask("close")).isEqualTo("closed, threads left: []");
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("the JVM ends by itself")
                    .isTrue();
            assertThat(process.exitValue()).isZero();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private Path errors() {
        return directory.resolve("errors");
    }

    private HttpResponse<String> get(String uri) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(uri)).build(), BodyHandlers.ofString());
    }

    private String body(int port) throws Exception {
        return get("http://127.0.0.1:" + port + "/").body();
    }

    @Test
    void anApplicationStartsReloadsDrainsAndClosesAGatewayAndItsLogStaysItsOwn() throws Exception {
        try (Running application = new Running("-jar", jar.toString(), "first.yaml")) {
            assertThat(body(application.port)).isEqualTo("first");
            String reloaded = application.ask("reload second.yaml");
            int port = Integer.parseInt(reloaded.substring("reloaded: ".length()));
            assertThat(body(port)).isEqualTo("second");
            assertThat(application.ask("drain")).isEqualTo("drained");
            assertThatThrownBy(() -> body(port)).isInstanceOf(ConnectException.class);
            application.closeGateway();
        }
        List<String> lines = Files.readAllLines(log);
        assertThat(lines).allMatch(line -> line.startsWith("application|"));
        assertThat(lines.get(0)).isEqualTo("application|WARN|com.example.Application|The application begins");
        assertThat(lines).contains("application|WARN|com.example.Application|The application has no gateway any more");
        assertThat(lines)
                .filteredOn(line -> line.contains("|dev.gateway."))
                .anyMatch(line -> line.contains("Listener web at http://127.0.0.1:"))
                .allMatch(line -> line.matches("application\\|(INFO|WARN)\\|dev\\.gateway\\..*"));
        assertThat(Files.readString(errors())).doesNotContain("Listener", "INFO", "SLF4J");
    }

    /** The next line of output after a request is the application's own answer. */
    @Test
    void linesOfTheAccessLogAreInTheLogOfTheApplicationAndNotInItsOutput() throws Exception {
        String yaml = Files.readString(directory.resolve("first.yaml")).replace("accessLog: {format: \"off\"}\n", "");
        assertThat(yaml).doesNotContain("accessLog");
        Files.writeString(directory.resolve("logged.yaml"), yaml);
        try (Running application = new Running("-jar", jar.toString(), "logged.yaml")) {
            assertThat(body(application.port)).isEqualTo("first");
            assertThat(application.ask("drain")).isEqualTo("drained");
            application.closeGateway();
        }
        assertThat(Files.readAllLines(log))
                .filteredOn(line -> line.startsWith("application|INFO|dev.gateway.accesslog|{"))
                .singleElement()
                .asString()
                .contains("\"listener\":\"web\"", "\"status\":200");
        assertThat(Files.readString(errors())).doesNotContain("\"listener\"");
    }

    @Test
    void aRegistryOfTheApplicationHasTheMetersOfTheGatewayUntilItIsClosed() throws Exception {
        try (Running application = new Running("-jar", jar.toString(), "first.yaml", "meters")) {
            assertThat(body(application.port)).isEqualTo("first");
            assertThat(body(application.port)).isEqualTo("first");
            application.await("requests", "requests: 2"); // the values of a registry are some seconds old
            application.closeGateway();
        }
        // Its own meter stays, those of the gateway are gone.
        assertThat(Files.readAllLines(log))
                .contains("application|WARN|com.example.Application|The registry has 1 meters left");
    }

    @Test
    void theLevelIsTheOneThatTheApplicationHasChosen() throws Exception {
        try (Running application = new Running("-Dgateway.level=ERROR", "-jar", jar.toString(), "first.yaml")) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(application.admin + "log-level?level=trace"))
                            .header("X-Requested-By", "the test")
                            .POST(BodyPublishers.noBody())
                            .build(),
                    BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(422);
            assertThat(answer.body()).contains("the log belongs to the program that runs this gateway");
            assertThat(body(application.port)).isEqualTo("first");
            application.closeGateway();
        }
        assertThat(Files.readAllLines(log)).hasSize(2).allMatch(line -> line.contains("|com.example.Application|"));
    }

    @Test
    void aLibraryIsLoadedWhenItsFeatureIsUsedAndNotBefore() throws Exception {
        Path file = directory.resolve("classes");
        try (Running application = new Running(LoadedClasses.option(file), "-jar", jar.toString(), "first.yaml")) {
            assertThat(body(application.port)).isEqualTo("first");
            assertThat(get(application.admin + "stats").statusCode()).isEqualTo(200);
            LoadedClasses classes = LoadedClasses.read(file);
            assertThat(classes.of("dev.gateway.Gateway")).isNotEmpty();
            assertThat(classes.ofLibrariesOnDemand()).isEmpty();
            assertThat(classes.of("dev.gateway.runtime.process.log.")).isEmpty();
            assertThat(classes.of("dev.gateway.cli.")).isEmpty();
            application.closeGateway();
        }
    }

    @Test
    void everythingWorksWithoutTheLibrariesOfTheGatewaysOwnProcess() throws Exception {
        List<Path> bare = ExampleProject.classPath(jar).stream()
                .filter(each -> !each.getFileName().toString().startsWith("logback-"))
                .toList();
        assertThat(bare)
                .extracting(each -> each.getFileName().toString())
                .noneMatch(name -> name.matches("(logback|picocli|chart\\.js|jose4j|lettuce|reactor|brotli4j|zstd).*"))
                .hasSizeLessThan(64); // with what Netty and OpenTelemetry are split into
        String classPath =
                Stream.concat(Stream.of(jar), bare.stream()).map(Path::toString).collect(Collectors.joining(":"));
        // The manifest of the application's jar would bring its Logback again.
        String classes = jar.resolveSibling("classes") + classPath.substring(classPath.indexOf(File.pathSeparator));
        try (Running application = new Running("-cp", classes, "com.example.Application", "first.yaml")) {
            assertThat(body(application.port)).isEqualTo("first");
            for (String page : List.of("", "stats", "metrics", "config", "upstreams", "dashboard", "openapi.json")) {
                assertThat(get(application.admin + page).statusCode()).as(page).isEqualTo(200);
            }
            HttpResponse<String> charts = get(application.admin + "dashboard/chart.umd.min.js");
            assertThat(charts.statusCode()).isEqualTo(404);
            assertThat(charts.body()).contains("add org.webjars.npm:chart.js:");
            assertThat(get(application.admin + "log-level").statusCode()).isEqualTo(422);
            application.closeGateway();
        }
        assertThat(Files.readString(errors())).contains("No SLF4J providers").doesNotContain("Error", "Exception");
    }

    /** Returns what an application that is started with this filter says. */
    private String errorsWith(String filter) throws Exception {
        Files.writeString(directory.resolve("jwks.json"), "{\"keys\":[]}");
        Files.writeString(
                directory.resolve("filter.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - filters:
                          - %s
                          - {type: DirectResponse, directResponse: {body: hello}}
                """
                        .formatted(filter));
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java", "-jar", jar.toString(), "filter.yaml")
                .directory(directory.toFile())
                .redirectError(errors().toFile())
                .redirectOutput(directory.resolve("output").toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return Files.readString(errors());
    }

    @Test
    void aFilterWhoseLibraryIsMissingNamesIt() throws Exception {
        assertThat(errorsWith("{type: JWT, jwt: {providers: [{issuer: \"https://id.example\", jwksFile: jwks.json}]}}"))
                .contains("jwksFile: JWT needs the library jose4j: add org.bitbucket.b_c:jose4j to the class path");
    }

    @Test
    void aCodingWhoseLibraryIsMissingNamesIt() throws Exception {
        assertThat(errorsWith("{type: Compression, compression: {algorithms: [zstd, gzip]}}"))
                .contains("algorithms: 'zstd' needs the library zstd-jni: add com.github.luben:zstd-jni");
        assertThat(errorsWith("{type: Decompression, decompression: {algorithms: [br]}}"))
                .contains("algorithms: 'br' needs the library brotli4j: add com.aayushatharva.brotli4j:brotli4j");
    }

    @Test
    void codingsWhoseLibrariesAreMissingAreLeftOutUnlessTheConfigurationNamesThem() throws Exception {
        Files.writeString(
                directory.resolve("codings.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - filters:
                          - {type: Decompression, decompression: {}}
                          - {type: Compression, compression: {}}
                          - {type: DirectResponse, directResponse: {body: hello}}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """);
        try (Running application = new Running("-jar", jar.toString(), "codings.yaml")) {
            assertThat(body(application.port)).isEqualTo("hello");
            application.closeGateway();
        }
    }

    @Test
    void theDashboardSaysThatItHasNoChartsAndShowsTheValues() throws Exception {
        try (Browser browser = Browser.start();
                Running application = new Running("-jar", jar.toString(), "first.yaml")) {
            browser.open(application.admin + "dashboard");
            browser.await("document.getElementById('link').textContent", "live");
            browser.await("String(document.querySelectorAll('#requests .legend li').length > 0)", "true");
            assertThat(browser.evaluate("return document.getElementById('no-charts').innerText"))
                    .contains("No charts: this program lacks the library org.webjars.npm:chart.js");
            application.closeGateway();
        }
    }
}
