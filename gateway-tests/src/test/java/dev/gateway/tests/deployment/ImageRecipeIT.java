package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the image is made of. No registry is asked: a program in the place of docker tells what it would do. */
class ImageRecipeIT {
    private static final Path RECIPE = Path.of("../deploy/image");
    private static final Pattern ARGUMENT = Pattern.compile("(?m)^ARG (\\w+)=(\\S+)$");
    private static final String OTHER = "example.com/base@sha256:" + "0".repeat(64);

    @TempDir
    Path clone;

    private static Map<String, String> arguments() throws IOException {
        return ARGUMENT.matcher(Files.readString(RECIPE.resolve("Dockerfile")))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
    }

    @Test
    void everyImageOfARegistryIsNamedByDigest() throws Exception {
        assertThat(arguments()).containsOnlyKeys("JDK_IMAGE", "BASE_IMAGE");
        assertThat(arguments().values()).allMatch(image -> image.matches("[a-z0-9./-]+:[\\w.-]+@sha256:[0-9a-f]{64}"));
        Matcher from = Pattern.compile("(?m)^FROM (\\S+)").matcher(Files.readString(RECIPE.resolve("Dockerfile")));
        assertThat(from.results().map(found -> found.group(1))).containsExactly("${JDK_IMAGE}", "${BASE_IMAGE}");
    }

    @Test
    void theBaseImageIsThatOfDebian13() throws Exception {
        assertThat(arguments().get("BASE_IMAGE")).contains("debian13");
    }

    @Test
    void aBuildTakesTheImagesOfTheRecipe() throws Exception {
        assertThat(build("PATH=" + clone.resolve("bin") + ":" + System.getenv("PATH")))
                .doesNotContain("--build-arg")
                .anyMatch(word -> word.endsWith("/deploy/image/Dockerfile"));
    }

    @Test
    void aBuildTakesOtherImagesIfItIsTold() throws Exception {
        assertThat(build("PATH=" + clone.resolve("bin") + ":" + System.getenv("PATH"), "BASE_IMAGE=" + OTHER))
                .containsSubsequence("--build-arg", "BASE_IMAGE=" + OTHER)
                .noneMatch(word -> word.startsWith("JDK_IMAGE="));
    }

    /** Builds with this environment, and returns what docker was told. */
    private List<String> build(String... environment) throws Exception {
        Path image = Files.createDirectories(clone.resolve("deploy/image"));
        for (String file : List.of("build", "Dockerfile", "assemble")) {
            Files.copy(RECIPE.resolve(file), image.resolve(file));
        }
        Files.createDirectories(clone.resolve("gateway-core/target"));
        Files.writeString(clone.resolve("gateway-core/target/gateway.jar"), "");
        Path docker = Files.createDirectories(clone.resolve("bin")).resolve("docker");
        Files.writeString(docker, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
        Files.setPosixFilePermissions(docker, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> command = Stream.concat(
                        Stream.concat(Stream.of("env", "-u", "BASE_IMAGE", "-u", "JDK_IMAGE"), Stream.of(environment)),
                        Stream.of("bash", image.resolve("build").toString()))
                .toList();
        Tools.Result result = Tools.run(60, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output().lines().toList();
    }
}
