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
import java.util.ArrayList;
import java.util.List;
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
        return "<testcase classname='A' name='b(int)'><skipped message=\"" + message + "\"/></testcase>";
    }

    private static String aborted(String message) {
        String type = "org.opentest4j.TestAbortedException";
        return "<testcase classname='A' name='b(int)'><skipped type='" + type + "'><![CDATA[" + type + ": " + message
                + "\n\tat org.junit.jupiter.api.Assumptions.abort(Assumptions.java:316)]]></skipped></testcase>";
    }

    private String said(String... more) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java", "src/skips/SkippedTests.java", directory.toString()));
        command.addAll(List.of(more));
        Tools.Result result = Tools.run(60, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }

    @Test
    void reasonsAreCounted() throws Exception {
        report("failsafe", "A", skipped("h2spec is not installed"), "<testcase/>", skipped("nginx is not installed"));
        report("surefire", "B", skipped("Assumption failed: nginx is not installed"), skipped("no epoll&#10;here"));
        report("failsafe", "C", aborted("\nnginx is not installed\n"), skipped(""));
        assertThat(said(begin.toString()))
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
        assertThat(said(begin.toString())).isEqualTo("no test was skipped\n");
    }

    /** This is how {@code .ci/run} asks, which wants none. */
    @Test
    void withoutABeginEachTestIsNamed() throws Exception {
        report("failsafe", "A", skipped("nginx is not installed"), "<testcase/>");
        assertThat(said())
                .isEqualTo(
                        """
                        A: b(int): nginx is not installed
                        surefire: there are no reports
                        """);
        report("surefire", "B", "<testcase/>");
        assertThat(said()).isEqualTo("A: b(int): nginx is not installed\n");
    }
}
