package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Documents;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The archive that users unpack contains what its documents lead to and what their commands copy. */
@Tag("jar")
@Timeout(60)
class ArchiveIT {
    private static final Path BUILT = Path.of("../gateway-core/target");

    @TempDir
    private Path directory;

    /** Returns the archives: that for all platforms, and those for one. */
    private static List<Path> archives() throws IOException {
        List<Path> archives;
        try (Stream<Path> files = Files.list(BUILT)) {
            archives = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .sorted(Comparator.comparing(file -> file.toString().length()))
                    .toList();
        }
        if (archives.isEmpty()) {
            Tools.missing("the archives are not built: mvn package makes them");
        }
        return archives;
    }

    private static Path unpack(Path archive, Path into) throws Exception {
        Tools.Result result =
                Tools.run("tar", "-xzf", archive.toString(), "-C", into.toString(), "--strip-components=1");
        assertThat(result.exit()).as(result.output()).isZero();
        return into;
    }

    private Path unpack() throws Exception {
        return unpack(archives().get(0), directory);
    }

    @Test
    void everyLinkLeadsSomewhere() throws Exception {
        Path root = unpack();
        List<Path> documents = Documents.below(root, "");
        assertThat(documents).contains(root.resolve("README.md"), root.resolve("docs/getting-started.md"));
        for (Path document : documents) {
            for (String link : DocumentLinks.of(document)) {
                assertThat(DocumentLinks.problem(document, link))
                        .as("%s in %s of the archive", link, root.relativize(document))
                        .isEmpty();
            }
        }
    }

    @Test
    void theLauncherRunsAndTheUnitIsThere() throws Exception {
        Path root = unpack();
        try (Stream<Path> programs = Files.list(root.resolve("bin"))) {
            // bin/test needs a clone
            assertThat(programs).containsExactly(root.resolve("bin/gateway"));
        }
        assertThat(root.resolve("bin/gateway")).isExecutable();
        assertThat(root.resolve("lib/gateway.jar")).isRegularFile();
        assertThat(root.resolve("deploy/systemd/gateway.service")).isRegularFile();
        assertThat(root.resolve("deploy/prometheus/gateway.rules.yaml")).isRegularFile();
    }

    @Test
    void theArchiveOfAPlatformHasItsJarAndTheSameFiles() throws Exception {
        List<Path> archives = archives();
        Path all = unpack(archives.get(0), Files.createDirectory(directory.resolve("all")));
        for (String platform : List.of("linux-x86_64", "linux-aarch_64")) {
            Path archive = archives.stream()
                    .filter(file -> file.toString().endsWith(platform + ".tar.gz"))
                    .findFirst()
                    .orElseThrow();
            assertThat(Files.size(archive)).isLessThan(20_500_000L); // docs/operations.md says 20 MB
            Path one = unpack(archive, Files.createDirectory(directory.resolve(platform)));
            assertThat(files(one)).isEqualTo(files(all));
            assertThat(one.resolve("bin/gateway")).isExecutable();
            assertThat(one.resolve("lib/gateway.jar")).hasSameBinaryContentAs(GatewayJar.file(platform));
        }
        assertThat(archives).hasSize(3);
    }

    private static Set<String> files(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString()).collect(Collectors.toSet());
        }
    }
}
