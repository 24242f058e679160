package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code .ci/full/run} keeps a record of the parts, which tells whether a part is green. */
@Timeout(180)
class FullFormTest {
    private static final String RECORD = ".ci/full/results.tsv";

    /** Stands for Maven: it fails for a class whose name says so, and builds anything. */
    private static final String MAVEN =
            """
            #!/bin/bash
            case "$*" in
              *-Dtest=Failing*) echo '[ERROR] it fails'; exit 1 ;;
              *-Dtest=Hanging*) sleep 60 ;;
              *-Dtest=Missing*) ;;
              *-Dtest=Skipped*)
                mkdir -p gateway-core/target/surefire-reports
                echo '<testsuite><testcase><skipped message="nginx is not installed"/></testcase></testsuite>' \
                  >gateway-core/target/surefire-reports/TEST-Skipped.xml
                echo '[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 1 s -- in Skipped' ;;
              *) echo '[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in Some' ;;
            esac
            """;

    private static final String TABLE =
            """
            every pom.xml
            set shared common
            part one 1 the first
              run tests SomeTest
              of @shared first
            part two 1 the second
              run tests %sTest
              run tests SomeTest
              of second
            """;

    @TempDir
    private Path directory;

    private Path clone;

    /** Of a part. */
    private String limit = "60m";

    @BeforeEach
    void makeClone() throws Exception {
        Path programs = Files.createDirectory(directory.resolve("bin"));
        Files.setPosixFilePermissions(
                Files.writeString(programs.resolve("mvn"), MAVEN), PosixFilePermissions.fromString("rwxr-xr-x"));
        clone = Files.createDirectories(directory.resolve("clone"));
        Path scripts = Files.createDirectories(clone.resolve(".ci/full"));
        Files.copy(Path.of("../.ci/full/run"), scripts.resolve("run"));
        Files.setPosixFilePermissions(scripts.resolve("run"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Path skips = Path.of("src/skips/SkippedTests.java");
        Files.createDirectories(clone.resolve("gateway-tests/src/skips"));
        Files.copy(skips, clone.resolve("gateway-tests").resolve(skips));
        Files.writeString(clone.resolve(".gitignore"), "target/\n" + RECORD + "\n");
        table("Some");
        git("init", "-q");
        git("config", "user.name", "Some");
        git("config", "user.email", "some@example.com");
        commit("first");
    }

    private void table(String second) throws IOException {
        Files.writeString(clone.resolve(".ci/full/parts"), TABLE.formatted(second));
    }

    private void git(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Tools.find("git"), "-C", clone.toString()));
        command.addAll(List.of(arguments));
        Tools.Result result = Tools.run(60, command);
        assertThat(result.exit()).as(result.output()).isZero();
    }

    private void commit(String changed) throws Exception {
        Files.writeString(clone.resolve(changed), Long.toString(System.nanoTime()));
        git("add", "-A");
        git("commit", "-q", "-m", changed);
    }

    private Tools.Result full(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "-u",
                "CI_WORK",
                "FULL_LIMIT=" + limit,
                "PATH=" + directory.resolve("bin") + ":" + System.getenv("PATH"),
                clone.resolve(".ci/full/run").toString()));
        command.addAll(List.of(options));
        return Tools.run(60, command);
    }

    private String listed(String part, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("--list"));
        arguments.addAll(List.of(options));
        Tools.Result result = full(arguments.toArray(String[]::new));
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output().replaceAll("(?s)^.*" + part + " +1 min", "").replaceAll("(?s)\\n\\w.*", "");
    }

    private List<String> results() throws IOException {
        return Files.readAllLines(clone.resolve(RECORD)).stream()
                .skip(1)
                .map(line -> line.replaceAll("^(\\S+)\\t.*\\t", "$1 "))
                .toList();
    }

    @Test
    void aPartThatPassesStaysGreenUntilItsPathsChange() throws Exception {
        assertThat(listed("one")).contains("to be run: it has no result yet");
        Tools.Result result = full("one");
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(results()).containsExactly("one passed");
        assertThat(clone.resolve(RECORD))
                .content()
                .matches("part\\tcommit\\tdate\\tminutes\\tresult\\n"
                        + "one\\t[0-9a-f]{12}\\t20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ\\t\\d\\.\\d\\tpassed\\n");
        commit("second");
        assertThat(listed("one")).contains("green: passed at ");
        assertThat(listed("two")).contains("to be run: it has no result yet");
        for (String path : List.of("first", "common", "pom.xml")) {
            commit(path);
            assertThat(listed("one")).as(path).contains("to be run: its paths have changed");
            assertThat(full("one").exit()).isZero();
            assertThat(listed("one")).as(path).contains("green: passed at ");
        }
    }

    @Test
    void aPartThatFailsDoesNotStopTheOthers() throws Exception {
        table("Failing");
        git("commit", "-q", "-a", "-m", "failing");
        Tools.Result result = full("two", "one");
        assertThat(result.exit()).as(result.output()).isEqualTo(1);
        assertThat(result.output()).contains("it fails", "failed: two");
        assertThat(results()).containsExactly("two failed", "one passed");
        assertThat(listed("two")).contains("red: failed at ");
    }

    @Test
    void aPartThatHangsTimesOut() throws Exception {
        table("Hanging");
        git("commit", "-q", "-a", "-m", "hanging");
        limit = "2s";
        assertThat(full("two").exit()).isEqualTo(1);
        assertThat(results()).containsExactly("two timed out");
    }

    @Test
    void aPartWithoutTestsFails() throws Exception {
        table("Missing");
        Tools.Result result = full("two");
        assertThat(result.exit()).isEqualTo(1);
        assertThat(result.output()).contains("no test ran");
    }

    @Test
    void aPartWhoseTagNoTestHasPasses() throws Exception {
        Path parts = clone.resolve(".ci/full/parts");
        Files.writeString(parts, Files.readString(parts).replaceAll("run tests \\w+", "run tagged"));
        Tools.Result result = full("two");
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(clone.resolve("target/full/two.log")).content().contains("no test has the tag two");
    }

    @Test
    void aPartWithASkippedTestFails() throws Exception {
        table("Skipped");
        Tools.Result result = full("two");
        assertThat(result.exit()).isEqualTo(1);
        assertThat(result.output()).contains("nginx is not installed", "tests were skipped");
    }

    @Test
    void uncommittedChangesOfItsPathsAreNeverGreen() throws Exception {
        Files.writeString(clone.resolve("second"), "new");
        assertThat(full().exit()).isZero();
        assertThat(results()).containsExactly("one passed", "two passed with uncommitted changes");
        assertThat(listed("two")).contains("to be run: it has no result yet");
    }

    @Test
    void aResultIsOfTheCommitThatRan() throws Exception {
        assertThat(full("one").exit()).isZero();
        assertThat(listed("one", "--since", "HEAD")).contains("passed since HEAD");
        commit("second");
        assertThat(listed("one", "--since", "HEAD")).contains("green: passed at ", "has not passed since HEAD");
        assertThat(listed("one", "--since", "HEAD^")).contains("passed since HEAD^");
    }

    @Test
    void withoutARepositoryNothingIsWritten() throws Exception {
        Tools.run("rm", "-rf", clone.resolve(".git").toString());
        Tools.Result result = full("one");
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("nothing is written");
        assertThat(clone.resolve(RECORD)).doesNotExist();
        assertThat(listed("one")).contains("nothing says whether it is green");
    }

    @Test
    void aPartThatNobodyKnowsIsRefused() throws Exception {
        Tools.Result result = full("one", "three");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.output()).contains("no part 'three'; there are: one two");
        assertThat(clone.resolve("target")).doesNotExist();
    }
}
