package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code mvn verify} says at its end which tests were skipped. */
@Timeout(60)
class SkippedTestsTest {
    private final Instant begin = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    @TempDir
    private Path directory;

    private Path report(String kind, String name, String... cases) throws IOException {
        Path reports = Files.createDirectories(directory.resolve("gateway-some/target/" + kind + "-reports"));
        return Files.writeString(
                reports.resolve("TEST-" + name + ".xml"), "<testsuite>" + String.join("", cases) + "</testsuite>");
    }

    private static String skipped(String message) {
        return "<testcase><skipped message=\"" + message + "\"/></testcase>";
    }

    private String said() throws IOException, InterruptedException {
        Tools.Result result = Tools.run(
                System.getProperty("java.home") + "/bin/java",
                "src/skips/SkippedTests.java",
                directory.toString(),
                begin.toString());
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }

    @Test
    void reasonsAreCounted() throws Exception {
        report("failsafe", "A", skipped("h2spec is not installed"), "<testcase/>", skipped("nginx is not installed"));
        report("surefire", "B", skipped("Assumption failed: nginx is not installed"), skipped("no epoll&#10;here"));
        report("failsafe", "C", skipped("nginx is not installed"), skipped(""));
        assertThat(said())
                .isEqualTo(
                        """
                        6 tests were skipped:
                             3: nginx is not installed
                             1: h2spec is not installed
                             1: no epoll
                             1: no reason is given
                        """);
    }

    @Test
    void reportsOfAnEarlierBuildAreLeftOut() throws Exception {
        Path former = report("failsafe", "A", skipped("nginx is not installed"));
        Files.setLastModifiedTime(former, FileTime.from(begin.minus(Duration.ofHours(1))));
        assertThat(said()).isEqualTo("no test was skipped\n");
    }
}
