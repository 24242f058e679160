package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.OutputLines;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commands of a document do what it shows, in its order, as a new user types them. Only ports differ: those that a
 * document names may be taken here.
 */
@Timeout(240)
@Tag("jar")
class DocumentedCommandsIT {
    private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

    private static final String SITE = ".ci/run runs README's line as it is, in a copy of the clone";

    /** What other parts of the build run, or what takes too long for a test. */
    private static final Map<String, String> ELSEWHERE = Map.of(
            "mvn -q -DskipTests package",
            ".ci/run runs it in a copy of the clone",
            "mvn verify",
            ".ci/run runs it in a copy of the clone; this test is part of it",
            "benchmarks/run",
            "takes half an hour; BenchmarkHarnessIT runs a short form",
            "python3 -m venv target/docs",
            SITE,
            "target/docs/bin/pip install -q --require-hashes -r docs/requirements.txt",
            SITE,
            "target/docs/bin/mkdocs build --strict",
            SITE);

    private static final Pattern LISTENING = Pattern.compile("(Listener \\w+|Admin) at \\w+://[^:/]+:(\\d+)/");
    private static final Pattern FILE = Pattern.compile("`([a-z]+\\.yaml)`[^`]*```yaml\\n(.*?)```", Pattern.DOTALL);
    private static final Map<String, String> PORTS =
            Map.of("Listener web", "8080", "Listener secure", "8443", "Admin", "9901");

    private final Map<String, String> ports = new HashMap<>(); // written to real
    private Process process;

    @TempDir
    private Path directory;

    @BeforeEach
    void aCloneWithAJar() throws IOException {
        if (!Files.exists(TOP.resolve("gateway-core/target/gateway.jar"))) {
            Tools.missing("gateway.jar is not built: mvn package makes it");
        }
        for (String name : List.of("gateway-core", "bin", "config")) {
            Files.createSymbolicLink(directory.resolve(name), TOP.resolve(name));
        }
        Files.createDirectory(directory.resolve("path"));
        Files.createSymbolicLink(directory.resolve("path/gateway"), TOP.resolve("bin/gateway"));
    }

    @AfterEach
    void stop() throws Exception {
        if (process != null) {
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @AfterEach
    void removeLinks() throws Exception {
        Tools.run("find", directory.toString(), "-type", "l", "-delete");
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/getting-started.md"})
    void everyCommandDoesWhatTheDocumentShows(String document) throws Exception {
        writeFiles(Files.readString(TOP.resolve(document)));
        List<DocumentedCommand> commands = DocumentedCommand.of(TOP.resolve(document));
        assertThat(commands).hasSizeGreaterThan(6);
        for (DocumentedCommand command : commands) {
            if (!ELSEWHERE.containsKey(command.command())) {
                List<String> printed = run(command.command());
                if (!command.output().isEmpty()) {
                    assertThat(generalized(printed))
                            .as("%s:%d: %s", document, command.line(), command.command())
                            .containsAll(generalized(command.output())); // log and banner come in no order
                }
            }
        }
    }

    /** Writes the files that the document tells its reader to write, or README's first example. */
    private void writeFiles(String document) throws IOException {
        Matcher file = FILE.matcher(document);
        String free = Integer.toString(Tools.freePort());
        while (file.find()) {
            Files.writeString(directory.resolve(file.group(1)), file.group(2).replace("port: 9000", "port: " + free));
        }
        if (!Files.exists(directory.resolve("gateway.yaml"))) {
            Files.copy(TOP.resolve("config/reverse-proxy.yaml"), directory.resolve("gateway.yaml"));
        }
    }

    /** Runs a command, or starts the gateway that it starts; returns what it printed. */
    private List<String> run(String command) throws Exception {
        if (command.endsWith("gateway.jar demo")) {
            int upstream = Tools.freePort();
            Path config = directory.resolve("demo.yaml");
            Files.writeString(
                    config,
                    Files.readString(TOP.resolve("config/quickstart.yaml"))
                            .replaceAll("port: (8080|8443|9901)", "port: 0")
                            .replace("port: 9000", "port: " + upstream));
            return start(command + " --config demo.yaml --upstream-port " + upstream, 3, "Stop with");
        }
        if (command.equals("gateway run gateway.yaml")) {
            Path config = directory.resolve("gateway.yaml");
            Files.writeString(
                    directory.resolve("run.yaml"),
                    Files.readString(config).replace("port: 8080", "port: 0") + "admin: {port: 0}\n");
            return start("gateway run run.yaml", 2, "Admin at");
        }
        boolean asks = command.matches("gateway (top|stats|explain).*") && !command.contains("--config");
        Process shell = shell(real(command)
                + (asks ? " --admin 127.0.0.1:" + ports.get("9901") : "")
                + (command.equals("gateway top") ? " --once" : ""));
        String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor(60, TimeUnit.SECONDS)).isTrue();
        if (command.contains("bad.yaml")) {
            assertThat(shell.exitValue()).isEqualTo(1);
        } else {
            assertThat(shell.exitValue()).as(command + ": " + output).isZero();
        }
        if (command.endsWith("/quit")) {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        }
        return output.lines().toList();
    }

    /** Starts a gateway; returns what it has printed when it has said where it listens. */
    private List<String> start(String command, int listeners, String last) throws Exception {
        stop();
        ports.clear();
        process = shell("exec " + command);
        OutputLines output = new OutputLines(process);
        List<String> printed = new ArrayList<>();
        boolean said = false;
        while (!said || ports.size() < listeners) {
            String line = output.next();
            printed.add(line);
            said |= line.contains(last);
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                ports.put(PORTS.get(listening.group(1)), listening.group(2));
            }
        }
        return printed;
    }

    private Process shell(String command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", command)
                .directory(directory.toFile())
                .redirectErrorStream(true);
        builder.environment().put("PATH", directory.resolve("path") + ":" + System.getenv("PATH"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("GATEWAY_CACHE", directory.resolve("cache").toString());
        return builder.start();
    }

    private String real(String command) {
        String real = command.replace("/usr/local/bin/", directory.resolve("path") + "/linked");
        for (Map.Entry<String, String> port : ports.entrySet()) {
            real = real.replace(":" + port.getKey(), ":" + port.getValue());
        }
        return real.startsWith("curl ") ? "curl -sS " + real.substring(5) : real;
    }

    /** Leaves out what each run has of its own: time, ports, ids, versions, the number of processors, and gaps. */
    private static List<String> generalized(List<String> lines) {
        return lines.stream()
                .map(line -> line.strip()
                        .replaceAll("^\\d{4}-\\d\\d-\\S+Z ", "")
                        .replaceAll("^Date: .*", "Date:")
                        .replaceAll("(:|Port: )\\d{4,5}\\b", "$1PORT")
                        .replaceAll("\\b[0-9a-f]{12,}\\b", "ID")
                        .replaceAll("curl/\\S+", "curl/VERSION")
                        .replaceAll("\\d+ event loops?", "N event loops"))
                .filter(line -> !line.isEmpty() && !line.equals("…"))
                .toList();
    }
}
