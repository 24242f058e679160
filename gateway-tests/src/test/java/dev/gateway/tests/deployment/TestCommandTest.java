package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/test} finds the module of a test, and has Maven do what the test needs. It only prints the command here. */
@Timeout(60)
class TestCommandTest {
    @TempDir
    private Path directory;

    private static Tools.Result print(String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of("../bin/test", "--print"));
        command.addAll(List.of(args));
        return Tools.run(60, command);
    }

    private static String printed(String... args) throws Exception {
        Tools.Result result = print(args);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "HeadCollectorTest; -pl gateway-core -am package -Dtest=dev.gateway.protocol.http1.HeadCollectorTest ",
                "http1.UpgradeTest; -pl gateway-core -am package -Dtest=dev.gateway.protocol.http1.UpgradeTest ",
                "CidrTest; -pl gateway-config -am package -Dtest=dev.gateway.format.CidrTest ",
                "HeadCollectorTest#a; -pl gateway-core -am package '-Dtest=dev.gateway.protocol.http1.HeadCollectorTest#a' ",
                "ReadmeTest; -pl gateway-tests -am package -Dtest=dev.gateway.tests.deployment.ReadmeTest ",
                "http1; -pl gateway-core -am package '-Dtest=dev.gateway.protocol.http1.*Test' ",
                "dev.gateway.protocol.http1; -pl gateway-core -am package '-Dtest=dev.gateway.protocol.http1.*Test' ",
                "reload; verify -Dtest=None '-Dit.test=dev.gateway.tests.reload.*IT' ",
                "TrailersIT; verify -Dtest=None -Dit.test=dev.gateway.tests.proxying.TrailersIT ",
                "unit; -pl gateway-config,gateway-core package "
            })
    void aNameLeadsToItsModule(String name, String options) throws Exception {
        assertThat(printed(name) + " ").contains(" -q " + options.strip() + " ");
    }

    @Test
    void severalNamesAreOneBuild() throws Exception {
        assertThat(printed("HeadCollectorTest", "CidrTest", "files"))
                .contains(
                        " -pl gateway-core,gateway-config -am package ",
                        "HeadCollectorTest,",
                        "CidrTest,",
                        ".files.*Test");
        assertThat(printed("HeadCollectorTest", "TrailersIT"))
                .contains(" verify -Dtest=dev.gateway.protocol.http1.HeadCollectorTest ", ".TrailersIT ")
                .doesNotContain("-pl ");
    }

    @Test
    void onlyATestOfTheJarWaitsForIt() throws Exception {
        assertThat(printed("TrailersIT")).contains(" -Dpackage.skip ");
        assertThat(printed("GatewayJarIT")).doesNotContain("-Dpackage.skip");
        assertThat(printed("TrailersIT", "GatewayJarIT")).doesNotContain("-Dpackage.skip");
    }

    @Test
    void mavenGetsTheOptions() throws Exception {
        assertThat(printed("-v", "TrailersIT", "--", "-Dit.forks=1", "-Dname=two words"))
                .doesNotContain(" -q ")
                .endsWith(" -Dit.forks=1 '-Dname=two words' \n");
    }

    @ParameterizedTest
    @CsvSource({"HeadColectorTest,HeadCollectorTest", "headcollector,HeadCollectorTest", "htp1,http1", "untis,unit"})
    void aNameThatIsUnknownLeadsToOneLikeIt(String name, String like) throws Exception {
        Tools.Result result = print(name);
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.output())
                .containsPattern("is named " + name + "; did you mean (\\S+, )*" + like + "(, \\S+)*\\?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"unit http1", "--wrong http1", "--", "nothingLikeIt"})
    void whatItDoesNotUnderstandRunsNothing(String args) throws Exception {
        Tools.Result result = print(args.split(" "));
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.output()).startsWith("bin/test: ").doesNotContain("mvn ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "exit 1; 1; mvn -q ",
                "exit 0; 2; no test was run",
                "echo '<testsuite name=\"x\" tests=\"3\" errors=\"0\" skipped=\"1\" failures=\"0\">' >$REPORT && $LATER; 0; "
                        + "3 tests ran, 1 skipped"
            })
    void itFailsIfMavenFailsOrRunsNoTest(String maven, int exit, String says) throws Exception {
        // in a clone of its own, where nobody else writes reports
        Path test = directory.resolve("gateway-core/src/test/java/dev/gateway/SomeTest.java");
        Files.createDirectories(test.getParent());
        Files.writeString(test, "");
        Path report = directory.resolve("gateway-core/target/surefire-reports/TEST-dev.gateway.SomeTest.xml");
        Files.createDirectories(report.getParent());
        Files.createDirectory(directory.resolve("bin"));
        Files.copy(Path.of("../bin/test"), directory.resolve("bin/test"), StandardCopyOption.COPY_ATTRIBUTES);
        Path program = Files.writeString(directory.resolve("mvn"), "#!/bin/sh\n" + maven + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        Tools.Result result = Tools.run(
                "env",
                "REPORT=" + report,
                "LATER=touch -d 1hour " + report, // than the tick of the clock in which the script began
                "PATH=" + directory + ":" + System.getenv("PATH"),
                directory.resolve("bin/test").toString(),
                "SomeTest");
        assertThat(result.exit()).as(result.output()).isEqualTo(exit);
        assertThat(result.output()).contains(says);
    }
}
