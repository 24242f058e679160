package dev.gateway.runtime.plugins;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.files.FileWatch;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.plugin.PluginType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Source of plugins: where the filter types of a configuration come from that are not the gateway's own. Nothing of it is
 * loaded before there is a directory. Used by one thread at a time; blocks.
 */
public final class PluginSource implements AutoCloseable {
    private static final String DEFAULT = "plugins";

    private final @Nullable Path directory;
    private final boolean named;
    private final List<PluginType> given;
    private final Level news;
    private @Nullable PluginDirectory opened;

    private PluginSource(@Nullable Path directory, boolean named, List<PluginType> given, Level news) {
        this.directory = directory;
        this.named = named;
        this.given = given;
        this.news = news;
    }

    /**
     * Returns plugins that the program brings; none for none.
     *
     * @throws IllegalArgumentException if one declares what cannot be, or two have one name
     */
    public static PluginSource of(List<? extends FilterPlugin> plugins) {
        Set<String> keys = new HashSet<>();
        List<PluginType> types = plugins.stream()
                .map(each -> new PluginType(each, each.getClass().getName(), null))
                .toList();
        for (PluginType type : types) {
            if (!keys.add(FilterTypes.keyOf(type.type()))) {
                throw new IllegalArgumentException("two plugins have the filter type '" + type.type() + "'");
            }
        }
        return new PluginSource(null, false, types, Level.INFO);
    }

    /**
     * Returns the plugins of a directory.
     *
     * @param wanted by the operator, and must exist; null for {@code plugins} beside the configuration, which need not
     */
    public static PluginSource directory(@Nullable Path wanted, Path config) {
        Path beside = beside(config);
        return new PluginSource(wanted == null ? beside : wanted, wanted != null, List.of(), Level.INFO);
    }

    /** Returns the plugins of a directory for a command that looks at them once, and logs nothing that went well. */
    public static PluginSource once(Path directory) {
        return new PluginSource(directory, true, List.of(), Level.DEBUG);
    }

    /** Whether jars lie where the gateway looks for plugins of a configuration if nobody names another place. */
    public static boolean hasJarsBeside(Path config) {
        Path beside = beside(config);
        if (!Files.isDirectory(beside)) {
            return false;
        }
        try (Stream<Path> entries = Files.list(beside)) {
            return entries.anyMatch(PluginDirectory::isJar);
        } catch (IOException e) {
            return false; // the gateway itself would tell
        }
    }

    /** Reads a configuration once, with this process's environment variables; the plugins first. */
    public LoadResult load(Path config) {
        return load(config, new FileWatch(List.of()));
    }

    /**
     * Reads a configuration, with this process's environment variables; the plugins first.
     *
     * @param watch watches from now on every file of it that was read, none if the plugins cannot be loaded
     */
    public LoadResult load(Path config, FileWatch watch) {
        return load(plugins -> load(config, FilterTypes.with(plugins), plugins, watch), LoadResult.Invalid::new);
    }

    private LoadResult load(
            Path config, FilterTypes types, List<? extends FilterDeclaration> plugins, FileWatch watch) {
        Path place = directory;
        FilterTypes known = place == null ? types : types.withoutOthers(() -> absence(place, plugins));
        return ConfigLoader.load(config, System.getenv(), known, watch);
    }

    /** Returns why no plugin has a type, for a configuration whose plugins nobody loads or names. */
    public static String absenceBeside(Path config) {
        return absence(beside(config), List.of());
    }

    private static Path beside(Path config) {
        return ConfigLoader.directory(config).resolve(DEFAULT);
    }

    private static String absence(Path directory, List<? extends FilterDeclaration> plugins) {
        if (!plugins.isEmpty()) {
            return "the plugins in " + directory + " have only "
                    + plugins.stream().map(FilterDeclaration::type).collect(Collectors.joining(", "));
        }
        return Files.isDirectory(directory)
                ? "there is no jar of a plugin in " + directory
                : "there are no plugins: " + directory + " is no directory";
    }

    /** Returns what somebody makes of the plugins, or of the problems if they cannot be loaded. */
    public <T> T load(Function<List<? extends FilterDeclaration>, T> use, Function<List<Problem>, T> failed) {
        if (opened == null && directory != null && (named || Files.isDirectory(directory))) {
            opened = new PluginDirectory(directory, news);
        }
        if (opened == null) {
            return use.apply(given);
        }
        PluginDirectory.Loaded loaded = opened.load(named);
        return loaded.problems().isEmpty() ? use.apply(loaded.plugins()) : failed.apply(loaded.problems());
    }

    /**
     * Looks at the jars, and returns whether a load of them has failed, they have changed since, and not since the last look:
     * somebody may have been copying one.
     */
    public boolean hasSettledSinceFailure() {
        return opened != null && opened.hasSettledSinceFailure();
    }

    /**
     * Waits until plugins that nobody uses are closed, but not longer than this.
     *
     * @return whether they are
     */
    public static boolean awaitClosed(long millis) throws InterruptedException {
        return PluginJar.awaitClosed(millis);
    }

    /** Frees the plugins that no generation uses; others close when the last generation ends that does. */
    @Override
    public void close() {
        if (opened != null) {
            opened.close();
            opened = null;
        }
    }
}
