package dev.gateway.runtime;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.FileWatch;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.runtime.plugins.PluginSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configuration file: the file that a gateway's configuration comes from, with those that it includes, or a directory of
 * files. A change is noticed from the last time on that they were loaded. Used by one thread at a time: first the one that
 * starts the gateway, then the gateway's.
 */
public final class ConfigFile {
    private final Path path;
    private final boolean ofProcess;
    private final PluginSource plugins;
    private FileWatch watch;
    private List<Path> forbidden = List.of(); // when it was last loaded
    private List<Problem> warnings = List.of(); // of the last configuration that was valid

    /** Names the file or directory, and looks for the files that belong to it. It is not loaded yet. */
    public ConfigFile(Path path) {
        this(path, List.of());
    }

    /**
     * Names the file or directory, as {@link #ConfigFile(Path)}, and the filter types that the program brings for it.
     *
     * @throws IllegalArgumentException if a plugin declares what cannot be, or two have one name
     */
    public ConfigFile(Path path, List<? extends FilterPlugin> plugins) {
        // A program may load the configuration by itself, and leave only its changes to the gateway.
        this(path, false, PluginSource.of(plugins), ConfigLoader.watch(path));
    }

    private ConfigFile(Path path, boolean ofProcess, PluginSource plugins, FileWatch watch) {
        this.plugins = plugins;
        this.path = path;
        this.watch = watch;
        this.ofProcess = ofProcess;
    }

    /**
     * Names the file or directory of a gateway in a process of its own, which loads it. The gateway has an admin listener unless the file says no, and the filters
     * of plugins.
     *
     * @param plugins the directory of plugins, null for the one beside the file, if there is one
     */
    public static ConfigFile ofProcess(Path path, @Nullable Path plugins) {
        return new ConfigFile(path, true, PluginSource.directory(plugins, path), new FileWatch(List.of()));
    }

    /** Reads the files, and first the plugins. */
    public LoadResult load() {
        watch.reading();
        FileWatch next = new FileWatch(List.of());
        LoadResult result = plugins.load(path, next);
        if (!next.isEmpty()) { // else plugins have failed, and no file was read
            watch = next;
        }
        forbidden = watch.forbidden();
        if (result instanceof LoadResult.Valid valid) {
            warnings = valid.problems();
            return ofProcess ? new LoadResult.Valid(valid.config().withAdmin(), warnings) : valid;
        }
        return result;
    }

    /** Returns the warnings of the last configuration that was valid. */
    List<Problem> warnings() {
        return warnings;
    }

    /**
     * Looks at the files, and returns whether they have changed since they were loaded and not since the last look. After a
     * load that failed because of a plugin, also looks at the jars; after one that was not permitted, whether it is now.
     */
    boolean hasSettled() {
        boolean plugin = plugins.hasSettledSinceFailure();
        boolean permitted = forbidden.stream().anyMatch(Files::isReadable); // nothing else of a file has changed then
        return watch.hasSettled() || plugin || permitted;
    }

    /** Returns what the last look has found changed, in a sentence. */
    String news() {
        List<Path> changed = watch.changed();
        String others = changed.size() > 1 ? " and " + (changed.size() - 1) + " more" : "";
        return (changed.isEmpty() ? path : changed.get(0)) + others + (others.isEmpty() ? " has" : " have")
                + " changed";
    }

    /** Frees the plugins that no generation uses; a second call has no effect. */
    public void close() {
        plugins.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
