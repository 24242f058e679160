package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
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
        boolean superuser = Files.isReadable(site); // who may read all files
        ConfigFile file = ConfigFile.ofProcess(root, null);
        if (!superuser) {
            assertThat(file.load().problems()).singleElement().asString().contains("no permission to read " + site);
        }
        assertNoNews(file);
        Files.setPosixFilePermissions(site, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(file.hasSettled()).isEqualTo(!superuser);
        if (!superuser) {
            assertThat(file.news()).isEqualTo(site + " may be read now");
        }
        assertThat(routes(file.load())).containsExactly("a", "b");
    }

    /** The kernel fails each read of the memory of a process from its start on, as it does of a disk that is broken. */
    @Test
    void aFileWhoseReadFailedIsTriedAgainAfterAWhile() throws IOException {
        Path failing = Path.of("/proc/self/mem");
        Assumptions.assumeTrue(Files.exists(failing), "Linux only");
        write("gateway.yaml", "include: [" + failing + "]\n" + LISTENER);
        ConfigFile file = ConfigFile.ofProcess(root, null);
        assertThat(file.load().problems()).singleElement().asString().endsWith(failing + ": Input/output error");
        for (int look = 1; look < 5; look++) {
            assertThat(file.hasSettled()).as("look %s", look).isFalse();
        }
        assertThat(file.hasSettled()).isTrue();
        assertThat(file.news()).isEqualTo("trying again to read " + root);
    }

    @Test
    void aPluginThatHasChangedIsNamedAsTheReason() throws IOException {
        write("plugins/greet.jar", "no jar");
        ConfigFile file = ConfigFile.ofProcess(root, null);
        assertThat(file.load().problems()).singleElement().asString().contains("greet.jar");
        Files.delete(directory.resolve("plugins/greet.jar"));
        assertNews(file, "plugins have changed");
        assertThat(routes(file.load())).containsExactly("a");
    }

    /** Runs as a part of each read: when the files have been read, and the gateway does not know yet what is in them. */
    private record DuringRead(Runnable task) implements FilterPlugin {
        @Override
        public String type() {
            return "DuringRead";
        }

        @Override
        public String description() {
            return "Runs a task.";
        }

        @Override
        public List<SettingKey<?>> keys() {
            return List.of(SettingKey.text("note", "Nothing.").withDefault("")); // else there is nothing to check
        }

        @Override
        public void check(Settings settings, SettingErrors errors) {
            task.run();
        }

        @Override
        public Filter create(Settings settings) {
            throw new AssertionError("no gateway runs");
        }
    }

    private ConfigFile readWith(Runnable task) throws IOException {
        write(
                "sites/b.yaml",
                SITE.formatted("b").replace("filters: [", "filters: [{type: DuringRead, duringRead: {}}, "));
        return new ConfigFile(root, List.of(new DuringRead(task)));
    }

    @Test
    void filesThatChangeWhileTheyAreReadAreReadAgain() throws IOException {
        AtomicInteger reads = new AtomicInteger();
        ConfigFile file = readWith(() -> {
            if (reads.incrementAndGet() == 1) {
                rewrite("sites/a.yaml", SITE.formatted("changed"));
                rewrite("sites/c.yaml", SITE.formatted("c"));
            }
        });
        assertThat(routes(file.load())).containsExactly("changed", "b", "c");
        assertThat(reads).hasValue(2);
        assertNoNews(file);
    }

    @Test
    void filesThatNeverRestAreReadAllTheSame() throws IOException {
        AtomicInteger reads = new AtomicInteger();
        ConfigFile file =
                readWith(() -> rewrite("sites/a.yaml", SITE.formatted("a" + "x".repeat(reads.incrementAndGet()))));
        assertThat(routes(file.load())).containsExactly("axx", "b");
        assertThat(reads).hasValue(3);
        assertNews(file, directory.resolve("sites/a.yaml") + " has changed");
    }

    private void rewrite(String name, String text) {
        try {
            write(name, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
