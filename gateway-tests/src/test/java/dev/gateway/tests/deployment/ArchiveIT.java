package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The archive that users unpack contains what its documents lead to and what their commands copy. */
@Timeout(60)
class ArchiveIT {
    private static final Path BUILT = Path.of("../gateway-core/target");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");

    @TempDir
    private Path directory;

    private Path unpack() throws Exception {
        List<Path> archives;
        try (Stream<Path> files = Files.list(BUILT)) {
            archives = files.filter(file -> file.toString().endsWith(".tar.gz")).toList();
        }
        if (archives.isEmpty()) {
            Tools.missing("the archive is not built: mvn package makes it");
        }
        Tools.Result result = Tools.run(
                "tar", "-xzf", archives.get(0).toString(), "-C", directory.toString(), "--strip-components=1");
        assertThat(result.exit()).as(result.output()).isZero();
        return directory;
    }

    @Test
    void everyLinkLeadsSomewhere() throws Exception {
        Path root = unpack();
        for (String name : List.of("README.md", "deploy/README.md")) {
            Path document = root.resolve(name);
            Matcher links = LINK.matcher(Files.readString(document));
            while (links.find()) {
                assertThat(document.getParent().resolve(links.group(1)).normalize())
                        .as("a link of " + name)
                        .exists();
            }
        }
    }

    @Test
    void theLauncherRunsAndTheUnitIsThere() throws Exception {
        Path root = unpack();
        assertThat(root.resolve("bin/gateway")).isExecutable();
        assertThat(root.resolve("lib/gateway.jar")).isRegularFile();
        assertThat(root.resolve("deploy/systemd/gateway.service")).isRegularFile();
        assertThat(root.resolve("deploy/prometheus/gateway.rules.yaml")).isRegularFile();
    }
}
