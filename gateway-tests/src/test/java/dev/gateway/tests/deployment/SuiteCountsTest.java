package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code suites/run} notices a suite that got worse; {@code suites/last-counts.md} knows each suite and explains each failure. */
@Timeout(60)
class SuiteCountsTest {
    private static final Path SUITES = Path.of("suites");

    @TempDir
    private Path directory;

    @Test
    void eachSuiteHasLastCounts() throws Exception {
        Tools.find("python3");

        Tools.Result listed = Tools.run(SUITES.resolve("run").toString(), "--list");

        assertThat(listed.exit()).as(listed.output()).isZero();
        assertThat(listed.output())
                .containsPattern("(?m)^h2spec .*\\n.*\\n +last: \\d+ cases: \\d+ passed, \\d+ warnings, \\d+ failed")
                .doesNotContain("never counted");
    }

    @Test
    void eachFailureHasAReason() throws Exception {
        assertThat(SUITES.resolve("last-counts.md")).content().doesNotContain("not explained yet");
    }

    /** The table says: 10 passed, 1 warning, 1 failed, which is accepted and named "known". */
    private String judge(String outcome) throws Exception {
        Tools.find("python3");
        Path table = Files.writeString(
                directory.resolve("counts.md"),
                """
                # Counts

                | suite | date | passed | warnings | failed |
                |---|---|---:|---:|---:|
                | some | 2026-01-02 | 10 | 1 | 1 |

                ## Accepted

                - `some` `known`: it is so
                """);
        Tools.Result told = Tools.run(
                "python3",
                "-B",
                "-c",
                """
                import sys
                sys.path.insert(0, sys.argv[1])
                from driver.counts import Outcome, Table
                table, now = Table(sys.argv[2]), eval(sys.argv[3])
                print("; ".join(table.complaints("some", now)))
                table.update("some", now)
                table.write()
                """,
                SUITES.toString(),
                table.toString(),
                outcome);
        assertThat(told.exit()).as(told.output()).isZero();
        return told.output().strip();
    }

    @Test
    void theSameCountsAreNoWorse() throws Exception {
        assertThat(judge("Outcome(10, 1, {'known': '?'})")).isEmpty();
        assertThat(directory.resolve("counts.md"))
                .content()
                .contains("\n| some | 20")
                .endsWith("\n\n- `some` `known`: it is so\n");
    }

    @Test
    void betterCountsAreNoWorse() throws Exception {
        assertThat(judge("Outcome(12, 0)")).isEmpty();
        assertThat(directory.resolve("counts.md"))
                .content()
                .contains("| 12 | 0 | 0 |")
                .doesNotContain("known");
    }

    @Test
    void fewerPassesAreWorse() throws Exception {
        assertThat(judge("Outcome(9, 2, {'known': '?'})")).isEqualTo("9 passed, 10 did last time");
    }

    @Test
    void anotherNumberOfCasesIsWorse() throws Exception {
        assertThat(judge("Outcome(11, 1, {'known': '?'})")).startsWith("13 cases ran, 12 did last time");
        assertThat(judge("Outcome()")).contains("0 cases ran, 12 did last time", "0 passed, 10 did last time");
    }

    @Test
    void aFailureThatNobodyAcceptedIsWorse() throws Exception {
        assertThat(judge("Outcome(10, 1, {'new': '?'})")).isEqualTo("new fails, which last-counts.md does not accept");
        assertThat(directory.resolve("counts.md")).content().endsWith("\n- `some` `new`: not explained yet\n");
    }
}
