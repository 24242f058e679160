package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the build downloads must fit its checksum. */
@Timeout(300)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class StrictChecksumsIT {
    private static final String PROJECT =
            "<project><modelVersion>4.0.0</modelVersion>%s<packaging>pom</packaging></project>";

    @TempDir
    Path directory;

    @Test
    void mavenTakesNoFileThatDoesNotFitItsChecksum() throws Exception {
        Path stored = Files.createDirectories(directory.resolve("repository/example/parent/1"));
        Files.writeString(
                stored.resolve("parent-1.pom"),
                PROJECT.formatted("<groupId>example</groupId><artifactId>parent</artifactId><version>1</version>"));
        Files.writeString(stored.resolve("parent-1.pom.sha1"), "0".repeat(40));
        Path project = Files.createDirectories(directory.resolve("project"));
        Files.writeString(
                project.resolve("pom.xml"),
                PROJECT.formatted("<parent><groupId>example</groupId><artifactId>parent</artifactId>"
                        + "<version>1</version><relativePath/></parent><artifactId>child</artifactId>"
                        + "<repositories><repository><id>here</id><url>"
                        + directory.resolve("repository").toUri()
                        + "</url></repository></repositories>"));
        Path settings = Files.createDirectories(project.resolve(".mvn"));
        Files.copy(Path.of("../.mvn/maven.config"), settings.resolve("maven.config"));

        Tools.Result result = Tools.run(
                200,
                List.of(
                        Tools.find("mvn"),
                        "-B",
                        "-N",
                        "-f",
                        project.toString(),
                        "-Dmaven.repo.local=" + directory.resolve("local"),
                        "validate"));
        assertThat(result.exit()).as(result.output()).isNotZero();
        assertThat(result.output()).contains("Non-resolvable parent POM", "Checksum validation failed, expected 000");
    }
}
