package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the program says to those who mistype a command, or start what cannot be started. */
@Tag("jar")
@Timeout(60)
class CommandLineIT {
    @TempDir
    Path directory;

    private Tools.Result gateway(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx64m",
                "-jar",
                GatewayJar.file().toString()));
        command.addAll(List.of(arguments));
        return Tools.run(60, command);
    }

    /** Runs the gateway with a class that the JVM cannot load, as if a jar were damaged. */
    private Tools.Result gatewayWithout(String damaged, String... arguments) throws Exception {
        Path file = directory.resolve("damaged").resolve(damaged.replace('.', '/') + ".class");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "this is no class");
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx64m",
                "-cp",
                directory.resolve("damaged") + File.pathSeparator + GatewayJar.file(),
                "dev.gateway.cli.Main"));
        command.addAll(List.of(arguments));
        return Tools.run(60, command);
    }

    private Path config(String yaml) throws Exception {
        return Files.writeString(directory.resolve("gateway.yaml"), yaml);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run --confg x | 2 | Unknown option: '--confg'",
                "run /nowhere.yaml | 1 | there is no file", // without the command line parser
            })
    void aMistakeIsExplainedInFewWords(String arguments, int exit, String message) throws Exception {
        Tools.Result result = gateway(arguments.split(" "));
        assertThat(result.output()).contains(message).doesNotContain("\tat ", "/nowhere.yaml:1:1");
        assertThat(result.exit()).as(result.output()).isEqualTo(exit);
        if (exit == 2) {
            assertThat(result.output().lines()).hasSizeLessThanOrEqualTo(3);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "org.slf4j.LoggerFactory, run", // before anything can be logged
        "dev.gateway.config.yaml.ConfigLoader, run",
        "dev.gateway.runtime.DataPlane, run",
        "dev.gateway.runtime.upstreams.UpstreamWatch, run", // listeners are bound by then
        "dev.gateway.runtime.process.Signals, run", // it serves by then
        "dev.gateway.config.yaml.ConfigLoader, validate",
        "picocli.CommandLine, validate"
    })
    void anErrorThatEndsTheStartEndsTheProcessAndIsSaidInOneLine(String damaged, String command) throws Exception {
        Path file = config(
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                """);
        Tools.Result result = gatewayWithout(damaged, command, file.toString());
        assertThat(result.exit()).as(result.output()).isEqualTo(70);
        assertThat(result.output().lines().filter(line -> line.contains("error in the gateway itself")))
                .singleElement()
                .asString()
                .contains("ClassFormatError", damaged.replace('.', '/'));
        assertThat(result.output()).doesNotContain("\tat ");
    }
}
