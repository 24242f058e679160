package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs {@code run} and {@code budget} still run and report; what they measure in two seconds is of no interest. */
@Tag("jar")
@Timeout(600)
class BenchmarkHarnessIT {
    private static final Path BENCH = Path.of("../benchmarks");
    private static final int ATTEMPTS = 3;

    /** How a script says that what it measured does not count, and why: not for wrong answers. */
    private static final Pattern INVALID = Pattern.compile(
            "^(- )?(h1-small|websocket|upload-put|direct-h1|direct-h2c|scrape-h[12]-50-0)(, \\w+)?: "
                    + "(?!.*(Non-2xx|µs of CPU)).+",
            Pattern.MULTILINE);

    /** What the scripts build once. */
    @TempDir
    private static Path cache;

    @TempDir
    private Path directory;

    @BeforeAll
    static void everythingIsThere() {
        if (!Files.exists(Path.of("../gateway-core/target/gateway.jar"))) {
            Tools.missing("gateway.jar is not built: mvn package makes it");
        }
        for (String tool : List.of("python3", "nginx", "wrk", "h2load", "openssl", "taskset", "go")) {
            Tools.find(tool);
        }
    }

    /** Runs a script to its end on the cores there are; returns its exit code. */
    private int run(String script, String... arguments) throws Exception {
        String lastCore = String.valueOf(Math.min(1, Runtime.getRuntime().availableProcessors() - 1));
        ProcessBuilder builder = new ProcessBuilder(BENCH.resolve(script).toString(), "--load-core", lastCore)
                .redirectErrorStream(true)
                .redirectOutput(printed().toFile());
        builder.command().addAll(List.of("--duration", "2", "--warmup", "1"));
        builder.command().addAll(List.of(arguments));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("GATEWAY_CACHE", cache.toString());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroy();
        }
        return process.exitValue();
    }

    private Path printed() {
        return directory.resolve("printed");
    }

    /**
     * Runs a script. On a busy machine requests may not be answered in time; the script says then that the measurement is
     * invalid, and is run again. Whatever else it does wrong fails the test at once.
     *
     * @param figures what the file says of a valid measurement
     */
    private void runUntil(Path file, String figures, String script, String... arguments) throws Exception {
        boolean valid = false;
        for (int attempt = 1; attempt <= ATTEMPTS && !valid; attempt++) {
            int exit = run(script, arguments);
            assertThat(file)
                    .as("of run %s: %s", attempt, Files.readString(printed()))
                    .exists();
            String text = Files.readString(file);
            valid = exit == 0 && Pattern.compile(figures).matcher(text).find();
            if (!valid) {
                assertThat(text)
                        .as("run %s (exit %s): %s", attempt, exit, Files.readString(printed()))
                        .containsPattern(INVALID)
                        .doesNotContain("Traceback");
                assertThat(exit).isEqualTo(script.equals("run") ? 0 : 1); // a budget has nothing to tell then
            }
        }
        assertThat(valid)
                .as("invalid %s times: %s", ATTEMPTS, Files.readString(printed()))
                .isTrue();
    }

    @Test
    void aRunComparesTheProxiesAndWritesATableAndCharts() throws Exception {
        Path out = directory.resolve("out");
        Path report = out.resolve("report.md");
        runUntil(
                report,
                "\\| h1-small \\| µs/request \\| [0-9.]+ \\| [0-9.]+ \\|",
                "run",
                "--rounds=1",
                "--only=gateway,nginx",
                "--out=" + out,
                "h1-small");
        runUntil(
                report,
                "\\| websocket \\| µs/message \\| [0-9.]+ \\|",
                "run",
                "--rounds=1",
                "--only=gateway",
                "--out=" + out,
                "websocket");
        assertThat(report).content().contains("| h1-small |", "| websocket |");
        assertThat(out.resolve("cpu.svg")).content().contains("<svg", "h1-small", "</svg>");
    }

    /**
     * The figures that are no cost: what a client sends and gets, and what compression leaves of heads. They do not depend
     * on a warm gateway, so a short warm-up is enough.
     */
    @Test
    void aRunCountsConnectionsAndBytesToo() throws Exception {
        Path out = directory.resolve("out");
        runUntil(
                out.resolve("report.md"),
                "(?s)"
                        + "\\| upload-put \\| s/GB \\| [0-9.]+ .*"
                        + "\\| scrape-h1-50-0 \\| connections \\| ([1-4]?[0-9](\\.[0-9]+)?|50) .*"
                        + "\\| scrape-h1-50-0 \\| KB received \\| 40[0-9]{2} .*"
                        + "\\| scrape-h2-50-0 \\| connections \\| 1 .*"
                        + "\\| scrape-h2-50-0 \\| KB received \\| 40[0-9]{2} .*"
                        + "\\| direct-h1 \\| µs/request \\| [0-9.]+ .*"
                        + "\\| direct-h2c \\| % of head bytes \\| [0-9.]+ ",
                "run",
                "--rounds=1",
                "--only=gateway",
                "--out=" + out,
                "upload-put",
                "scrape-h1-50-0",
                "scrape-h2-50-0",
                "direct-h1",
                "direct-h2c");
    }

    /** What failed may have been cheap for that reason. */
    @Test
    void noProxyIsComparedWithOneThatFailed() throws Exception {
        Tools.Result printed = Tools.run(
                "python3",
                "-B",
                "-Xutf8",
                "-c",
                """
                import sys
                sys.path.insert(0, sys.argv[1])
                from harness import report
                took = lambda cost, *errors: [{"cost": cost, "errors": list(errors)}]
                samples = {"gateway": took(20.0), "nginx": took(1.0, "Non-2xx"), "haproxy": took(30.0)}
                print("\\n".join(report.table({"workloads": {"h1-small": {"samples": samples}}})))
                """,
                BENCH.toString());
        assertThat(printed.output())
                .contains("| 20 | invalid | 30 |  |  |  |", ", met |")
                .doesNotContain("missed");
    }

    @Test
    void aBudgetTellsWhatARequestCosts() throws Exception {
        runUntil(
                printed(), "h1-small: [0-9.]+ µs of CPU time for each request.* bytes allocated", "budget", "h1-small");
    }
}
