package dev.gateway.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bench/run} and {@code bench/budget} still run and report; what they measure in two seconds is of no interest. */
@Timeout(600)
class BenchmarkHarnessIT {
    private static final Path BENCH = Path.of("bench");
    private static final int ATTEMPTS = 3;

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
        builder.command().addAll(List.of("--duration", "2", "--warmup", "3"));
        builder.command().addAll(List.of(arguments));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("GATEWAY_CACHE", directory.resolve("cache").toString());
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

    /** Again where a machine was so busy that nothing was answered in time, which makes a measurement invalid. */
    private void runUntil(Path file, String pattern, String script, String... arguments) throws Exception {
        for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
            if (run(script, arguments) == 0
                    && Pattern.compile(pattern).matcher(Files.readString(file)).find()) {
                return;
            }
        }
        assertThat(run(script, arguments)).as(Files.readString(printed())).isZero();
        assertThat(file).content().containsPattern(pattern);
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
