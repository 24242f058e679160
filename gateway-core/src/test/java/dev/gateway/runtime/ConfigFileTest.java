package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.route.RouteConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the files of a configuration are to be read again. */
@SuppressWarnings("NullAway.Init") // fields that JUnit and the first method set
class ConfigFileTest {
    private static final String SITE =
            "routes: [{name: %s, rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]\n";
    private static final String LISTENER = "listeners: [{name: web, port: 8080, protocol: HTTP}]\n";

    @TempDir
    Path directory;

    private Path root;

    @BeforeEach
    void write() throws IOException {
        root = write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER);
        write("sites/a.yaml", SITE.formatted("a"));
    }

    private Path write(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private static List<String> routes(LoadResult result) {
        return ((LoadResult.Valid) result)
                .config().routes().stream().map(RouteConfig::name).toList();
    }

    private static void assertNoNews(ConfigFile file) {
        assertThat(file.hasSettled()).isFalse();
        assertThat(file.hasSettled()).isFalse();
    }

    /** The first look finds the change, the second that it is complete. */
    private static void assertNews(ConfigFile file, String news) {
        assertThat(file.hasSettled()).isFalse();
        assertThat(file.hasSettled()).isTrue();
        assertThat(file.news()).isEqualTo(news);
    }

    @Test
    void filesThatAreNewChangedOrRemovedAreRead() throws IOException {
        ConfigFile file = ConfigFile.ofProcess(root, null);
        assertThat(routes(file.load())).containsExactly("a");
        assertNoNews(file);

        Path added = write("sites/b.yaml", SITE.formatted("b"));
        assertNews(file, added + " has changed");
        assertThat(routes(file.load())).containsExactly("a", "b");
        assertNoNews(file);

        write("sites/b.yaml", SITE.formatted("changed"));
        assertNews(file, added + " has changed");
        assertThat(routes(file.load())).containsExactly("a", "changed");

        Files.delete(added);
        write("gateway.yaml", "include: [sites/*.yaml]\nworkers: 1\n" + LISTENER);
        assertNews(file, root + " and 1 more have changed");
        assertThat(routes(file.load())).containsExactly("a");
        assertNoNews(file);

        write("sites/.b.yaml.swp", "what an editor keeps");
        write("sites/readme", "what is no part of the configuration");
        assertNoNews(file);
    }

    @Test
    void aFileWithAMistakeAndOneThatIsMissingAreReadAgainWhenTheyChange() throws IOException {
        ConfigFile file = ConfigFile.ofProcess(root, null);
        Path site = write("sites/b.yaml", "routes: [");
        assertThat(file.load()).isInstanceOf(LoadResult.Invalid.class);
        assertNoNews(file);
        write("sites/b.yaml", SITE.formatted("b"));
        assertNews(file, site + " has changed");
        assertThat(routes(file.load())).containsExactly("a", "b");

        write("sites/b.yaml", "include: [../more/c.yaml, ../other/*.yaml]\n");
        assertThat(file.load().problems()).hasSize(2);
        assertNoNews(file);
        Path more = write("more/c.yaml", SITE.formatted("c"));
        assertNews(file, more + " has changed");
        assertThat(file.load().problems()).hasSize(1);
        Path other = Files.createDirectory(directory.resolve("other"));
        assertNews(file, other + " has changed");
        assertThat(routes(file.load())).containsExactly("a", "c");
    }

    /** As Kubernetes updates a mounted ConfigMap: all files at once, by one link. */
    @Test
    void theSwapOfAMountedConfigMapIsOneChange() throws IOException {
        write("mount/..2026_01/a.yaml", LISTENER);
        write("mount/..2026_01/b.yaml", SITE.formatted("one"));
        write("mount/..2026_02/a.yaml", LISTENER + "workers: 2\n");
        write("mount/..2026_02/b.yaml", SITE.formatted("two"));
        Path mount = directory.resolve("mount");
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..2026_01"));
        Files.createSymbolicLink(mount.resolve("a.yaml"), Path.of("..data/a.yaml"));
        Files.createSymbolicLink(mount.resolve("b.yaml"), Path.of("..data/b.yaml"));
        ConfigFile file = ConfigFile.ofProcess(mount, null);
        assertThat(routes(file.load())).containsExactly("one");
        assertNoNews(file);
        Path link = Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..2026_02"));
        Files.move(link, mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        assertNews(file, mount.resolve("a.yaml") + " and 1 more have changed");
        assertThat(routes(file.load())).containsExactly("two");
        assertNoNews(file);
    }

    /** A program loads the configuration by itself, and leaves only its changes to the gateway. */
    @Test
    void theFilesOfAProgramAreWatchedBeforeTheyAreLoaded() throws IOException {
        ConfigFile file = new ConfigFile(root);
        assertNoNews(file);
        Path added = write("sites/b.yaml", SITE.formatted("b"));
        assertNews(file, added + " has changed");
        assertThat(routes(file.load())).containsExactly("a", "b");
    }

    @Test
    void aFileThatMayNotBeReadIsReadOnceItMayBe() throws IOException {
        Path site = write("sites/b.yaml", SITE.formatted("b"));
        Files.setPosixFilePermissions(site, PosixFilePermissions.fromString("---------"));
        Assumptions.assumeFalse(Files.isReadable(site), "the superuser may read all files");
        ConfigFile file = ConfigFile.ofProcess(root, null);
        assertThat(file.load().problems()).singleElement().asString().contains("no permission to read " + site);
        assertNoNews(file);
        Files.setPosixFilePermissions(site, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(file.hasSettled()).isTrue();
        assertThat(routes(file.load())).containsExactly("a", "b");
    }

    /** Beside the files: for a directory of files, in it. */
    @Test
    void pluginsLieBesideTheFiles() throws IOException {
        write("sites/listeners.yaml", LISTENER);
        write("sites/c.yaml", SITE.formatted("c").replace("DirectResponse", "AddGreeting"));
        assertThat(ConfigFile.ofProcess(directory.resolve("sites"), null).load().problems())
                .anyMatch(each -> each.message().contains(directory.resolve("sites/plugins") + " is no directory"));
        assertThat(ConfigFile.ofProcess(root, null).load().problems())
                .anyMatch(each -> each.message().contains(directory.resolve("plugins") + " is no directory"));
    }
}
