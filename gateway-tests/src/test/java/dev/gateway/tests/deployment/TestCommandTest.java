package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/test} finds the module of a test, and has Maven do what the test needs. It only prints the command here. */
@Timeout(60)
class TestCommandTest {
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
                "HeadCollectorTest; -pl gateway-core -am package -Dtest=dev.gateway.http1.HeadCollectorTest ",
                "http1.UpgradeTest; -pl gateway-core -am package -Dtest=dev.gateway.http1.UpgradeTest ",
                "DocumentedConfigsTest; -pl gateway-config -am package -Dtest=dev.gateway.config.yaml.DocumentedConfigsTest ",
                "HeadCollectorTest#a; -pl gateway-core -am package '-Dtest=dev.gateway.http1.HeadCollectorTest#a' ",
                "ReadmeTest; -pl gateway-tests -am package -Dtest=dev.gateway.tests.deployment.ReadmeTest ",
                "http1; -pl gateway-core -am package '-Dtest=dev.gateway.http1.*Test' ",
                "dev.gateway.http1; -pl gateway-core -am package '-Dtest=dev.gateway.http1.*Test' ",
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
                .contains(" verify -Dtest=dev.gateway.http1.HeadCollectorTest ", ".TrailersIT ")
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
}
