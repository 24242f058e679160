package dev.gateway.runtime.plugins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.plugin.PluginType;
import dev.gateway.message.RequestHead;
import dev.gateway.plugin.Settings;
import dev.gateway.stream.Cause;
import dev.gateway.testing.JarMaker;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;

/** Jars in a directory of plugins: loaded, loaded again, refused, and freed. */
class PluginSourceTest {
    private static final String PLUGIN =
            """
            public class %1$s implements dev.gateway.filter.FilterPlugin {
                %2$s
                public String type() { return "%1$s"; }
                public String description() { return "A test."; }
                public dev.gateway.filter.Filter create(dev.gateway.plugin.Settings s) {
                    return new dev.gateway.filter.Filter() {};
                }
            }
            """;

    @TempDir
    private Path directory;

    private Path config;
    private Path plugins;
    private PluginSource source;

    @BeforeEach
    void configure() throws IOException {
        plugins = Files.createDirectory(directory.resolve("plugins"));
        config = Files.writeString(
                directory.resolve("g.yaml"),
                """
                listeners: [{name: web, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: Greet, greet: {}}, {type: DirectResponse, directResponse: {}}]}]}]
                """);
        source = PluginSource.directory(null, config);
    }

    @AfterEach
    void close() {
        source.close();
    }

    private void jar(String file, String type, String code) throws IOException {
        JarMaker.plugin(plugins.resolve(file), type, PLUGIN.formatted(type, code));
    }

    private List<String> errors() {
        return source.load(config).problems().stream().map(Problem::toString).toList();
    }

    private PluginType loaded() {
        LoadResult result = source.load(config);
        assertThat(result.problems()).isEmpty();
        GatewayConfig valid = ((LoadResult.Valid) result).config();
        return (PluginType) valid.pluginTypes().get(0);
    }

    @Test
    void aJarInTheDirectoryAddsAType() throws IOException {
        jar("greet.jar", "Greet", "");
        assertThat(loaded()).hasToString("Greet of greet.jar");
    }

    @Test
    void withoutADirectoryNothingIsLoadedUnlessSomebodyNamesIt() throws IOException {
        Files.delete(plugins);
        assertThat(errors()).first().asString().contains("unknown value 'Greet'");
        try (PluginSource named = PluginSource.directory(plugins, config)) {
            assertThat(named.load(config).problems())
                    .singleElement()
                    .asString()
                    .startsWith(plugins + ": cannot be read as a directory of plugins: ");
        }
    }

    @Test
    void aTypeWhosePluginIsMissingIsNotOneOfTheGateway() throws IOException {
        String unknown = "unknown value 'Greet': the gateway has no such filter, and ";
        assertThat(errors()).first().asString().endsWith(unknown + "there is no jar of a plugin in " + plugins);
        jar("wave.jar", "Wave", "");
        assertThat(errors()).first().asString().endsWith(unknown + "the plugins in " + plugins + " have only Wave");
        Files.delete(plugins.resolve("wave.jar"));
        Files.delete(plugins);
        try (PluginSource none = PluginSource.directory(null, config)) {
            assertThat(none.load(config).problems())
                    .first()
                    .asString()
                    .endsWith(unknown + "there are no plugins: " + plugins + " is no directory");
        }
    }

    @Test
    void onlyAChangedJarIsLoadedAnewAndTheFormerIsFreedByItsLastUser() throws Exception {
        jar("greet.jar", "Greet", "");
        PluginType first = loaded();
        assertThat(loaded()).isSameAs(first);
        GatewayConfig used = ((LoadResult.Valid) source.load(config)).config();
        List<PluginType.Code> generation = PluginType.codes(used);
        generation.forEach(PluginType.Code::retain);
        jar("greet.jar", "Greet", "int other;");
        PluginType second = loaded();
        assertThat(second).isNotSameAs(first);
        ClassLoader former = classes(first);
        assertThat(former.getResource("Greet.class")).as("a generation uses it").isNotNull();
        Path copy = copy(former);
        assertThat(copy).exists();
        generation.forEach(PluginType.Code::release);
        assertThat(PluginSource.awaitClosed(10_000)).isTrue();
        assertThatThrownBy(() -> former.loadClass("Greet$1")).isInstanceOf(ClassNotFoundException.class);
        assertThat(copy).doesNotExist();
        assertThat(classes(second).loadClass("Greet$1")).isNotNull();
    }

    private static ClassLoader classes(PluginType type) throws ReflectiveOperationException {
        var field = PluginType.class.getDeclaredField("plugin");
        field.setAccessible(true);
        return field.get(type).getClass().getClassLoader();
    }

    private static Path copy(ClassLoader loader) {
        return Path.of(((java.net.URLClassLoader) loader).getURLs()[0].getPath());
    }

    @Test
    void aJarThatCannotBeLoadedIsNamedAndTheOthersStay() throws IOException {
        jar("greet.jar", "Greet", "");
        PluginType before = loaded();
        jar("a.jar", "Broken", "public Broken() { throw new IllegalStateException(\"no licence\"); }");
        assertThat(errors())
                .containsExactly(plugins.resolve("a.jar")
                        + ": the plugin cannot be loaded: java.lang.IllegalStateException: no licence");
        Files.delete(plugins.resolve("a.jar"));
        assertThat(loaded()).isSameAs(before);
    }

    @Test
    void eachWayToBeBrokenIsAnErrorOfTheConfiguration() throws IOException {
        String service = "META-INF/services/dev.gateway.filter.FilterPlugin";
        byte[] garbage = "garbage".getBytes(StandardCharsets.UTF_8);
        Map<String, Map<String, byte[]>> ways = Map.of(
                "java.lang.ClassFormatError", Map.of("Greet.class", garbage),
                "it names no class in META-INF/services/", Map.of(service, new byte[0]),
                "Provider garbage not found", Map.of(service, garbage));
        for (Map.Entry<String, Map<String, byte[]>> way : ways.entrySet()) {
            JarMaker.plugin(plugins.resolve("b.jar"), "Greet", PLUGIN.formatted("Greet", ""), way.getValue());
            assertThat(errors())
                    .singleElement()
                    .asString()
                    .startsWith(plugins.resolve("b.jar") + ": the plugin cannot be loaded: ")
                    .contains(way.getKey());
        }
        Files.write(plugins.resolve("b.jar"), garbage);
        assertThat(errors())
                .singleElement()
                .asString()
                .contains("b.jar: the plugin cannot be loaded: it is not a jar: ");
        jar("b.jar", "Greet", "static { if (true) throw new StackOverflowError(); }");
        assertThat(errors()).singleElement().asString().contains("java.lang.StackOverflowError");
    }

    @Test
    void aTypeOfTheGatewayOrOfAnotherJarIsRefused() throws IOException {
        jar("a.jar", "Greet", "");
        jar("b.jar", "Greet", "");
        assertThat(errors())
                .containsExactly(plugins + ": both a.jar and b.jar have the filter type 'Greet': remove one of them");
        Files.delete(plugins.resolve("b.jar"));
        jar("c.jar", "CORS", "");
        assertThat(errors())
                .containsExactly(plugins.resolve("c.jar")
                        + ": the plugin cannot be loaded: the filter type 'CORS' needs another name: the gateway has this"
                        + " one itself");
    }

    @Test
    void whatOthersMayWriteIsNotLoaded() throws IOException {
        jar("greet.jar", "Greet", "");
        Path real = plugins.toRealPath();
        for (String mode : List.of("rwxr-xrwx", "rwxrwxr-x")) {
            for (Path open : List.of(real.getParent(), real, real.resolve("greet.jar"))) {
                var kept = Files.getPosixFilePermissions(open);
                Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(mode));
                assertThat(errors())
                        .containsExactly(plugins + ": no plugin is loaded: others may write to " + open
                                + ": 'chmod go-w " + open + "' mends it");
                Files.setPosixFilePermissions(open, kept);
            }
        }
        loaded();
    }

    @Test
    void aLinkIsFollowedToWhereOthersMayWrite() throws IOException {
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        jar("greet.jar", "Greet", "");
        Files.move(plugins.resolve("greet.jar"), elsewhere.resolve("greet.jar"));
        Files.createSymbolicLink(plugins.resolve("greet.jar"), elsewhere.resolve("greet.jar"));
        loaded();
        Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(errors()).singleElement().asString().contains("others may write to " + elsewhere.toRealPath());
    }

    @Test
    void whatAnotherUserHasIsNotLoaded() {
        Writers writers = new Writers(1000);
        for (Writers.Kind kind : Writers.Kind.values()) {
            assertThat(writers.objection(directory, kind, 1000, 0755)).isNull();
            assertThat(writers.objection(directory, kind, 0, 0755)).isNull();
            assertThat(writers.objection(directory, kind, 1001, 0755)).contains(" belongs to another user");
            assertThat(writers.objection(directory, kind, 1000, 0775)).contains("others may write to ");
            assertThat(writers.objection(directory, kind, 1000, 0757)).contains("others may write to ");
        }
        assertThat(writers.objection(directory, Writers.Kind.ANCESTOR, 0, 01777))
                .isNull();
        assertThat(writers.objection(directory, Writers.Kind.DIRECTORY, 0, 01777))
                .contains("others may write to ");
        assertThat(writers.objection(directory, Writers.Kind.ANCESTOR, 1001, 01777))
                .contains(" belongs to another user");
    }

    @Test
    void aJarThatWasBeingWrittenIsTriedAgainWhenItsWriterHasFinished() throws IOException {
        assertThat(source.hasSettledSinceFailure()).isFalse();
        jar("greet.jar", "Greet", "");
        byte[] whole = Files.readAllBytes(plugins.resolve("greet.jar"));
        Files.write(plugins.resolve("greet.jar"), Arrays.copyOf(whole, whole.length / 2));
        assertThat(errors()).singleElement().asString().contains("it is not a jar");
        assertThat(source.hasSettledSinceFailure()).isFalse();
        Files.write(plugins.resolve("greet.jar"), whole);
        assertThat(source.hasSettledSinceFailure()).isFalse();
        assertThat(source.hasSettledSinceFailure()).isTrue();
        loaded();
        jar("greet.jar", "Greet", "int other;");
        source.hasSettledSinceFailure();
        assertThat(source.hasSettledSinceFailure()).as("it did not fail").isFalse();
    }

    @Test
    void aPluginIsClosedBeforeItsClassesAre() throws Exception {
        jar(
                "greet.jar",
                "Greet",
                "public void close() { System.setProperty(\"greet.closed\", Late.class.getName()); }"
                        + " static class Late {}");
        loaded();
        assertThat(System.getProperty("greet.closed")).isNull();
        source.close();
        assertThat(PluginSource.awaitClosed(10_000)).isTrue();
        assertThat(System.getProperty("greet.closed")).isEqualTo("Greet$Late");
        System.clearProperty("greet.closed");
    }

    @Test
    void aPluginThatFailsToCloseIsClosedNevertheless() throws Exception {
        jar("greet.jar", "Greet", "public void close() { throw new NoClassDefFoundError(); }");
        Path copy = copy(classes(loaded()));
        source.close();
        assertThat(PluginSource.awaitClosed(10_000)).isTrue();
        assertThat(copy).doesNotExist();
    }

    @Test
    void aPluginThatDoesNotReturnKeepsNobodyWaiting() throws Exception {
        jar(
                "greet.jar",
                "Greet",
                "public void close() { synchronized (Greet.class) {"
                        + " while (!Boolean.getBoolean(\"greet.released\")) { Thread.onSpinWait(); } } }");
        Path copy = copy(classes(loaded()));
        source.close();
        assertThat(PluginSource.awaitClosed(10)).isFalse();
        System.setProperty("greet.released", "true");
        assertThat(PluginSource.awaitClosed(10_000)).isTrue();
        assertThat(copy).doesNotExist();
        System.clearProperty("greet.released");
    }

    @Test
    void aPluginSeesTheSharedClassesAndItsOwnOnly() throws Exception {
        jar("greet.jar", "Greet", "");
        ClassLoader plugin = classes(loaded());
        for (Class<?> shared : List.of(
                Filter.class,
                Settings.class,
                RequestHead.class,
                Cause.class,
                Upstream.class,
                ByteBuf.class,
                AsciiString.class,
                FastThreadLocal.class,
                Logger.class,
                Nullable.class,
                HttpClient.class)) {
            assertThat(plugin.loadClass(shared.getName())).isSameAs(shared);
        }
        for (String hidden : List.of(
                "dev.gateway.Gateway",
                "dev.gateway.runtime.Lifecycle",
                "dev.gateway.filter.jwt.Jwt",
                "io.netty.channel.Channel",
                "ch.qos.logback.classic.Logger")) {
            assertThat(Class.forName(hidden, false, getClass().getClassLoader()))
                    .isNotNull();
            assertThatThrownBy(() -> plugin.loadClass(hidden)).isInstanceOf(ClassNotFoundException.class);
        }
    }

    @Test
    void theCopyOfTheJarIsThisUsersOwn() throws Exception {
        jar("greet.jar", "Greet", "");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy(classes(loaded())))))
                .isEqualTo("rw-------");
    }

    @Test
    void aProgramMayBringPlugins() {
        FilterPlugin greet = new FilterPlugin() {
            @Override
            public String type() {
                return "Greet";
            }

            @Override
            public String description() {
                return "Greets.";
            }

            @Override
            public Filter create(Settings settings) {
                return new Filter() {};
            }
        };
        assertThat(PluginSource.of(List.of(greet)).load(config)).isInstanceOf(LoadResult.Valid.class);
        assertThatThrownBy(() -> PluginSource.of(List.of(greet, greet)))
                .hasMessage("two plugins have the filter type 'Greet'");
    }
}
