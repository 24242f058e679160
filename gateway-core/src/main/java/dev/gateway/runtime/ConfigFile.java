package dev.gateway.runtime;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.files.FileWatch;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.runtime.plugins.PluginSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configuration file: the file that a gateway's configuration comes from. A change is noticed from the last time on that it
 * was loaded. Used by one thread at a time: first the one that starts the gateway, then the gateway's.
 */
public final class ConfigFile {
    private final Path path;
    private final FileWatch watch;
    private final boolean ofProcess;
    private final PluginSource plugins;
    private boolean unreadable; // when it was last loaded
    private List<Problem> warnings = List.of(); // of the last configuration that was valid

    /** Names the file, which is not read yet. */
    public ConfigFile(Path path) {
        this(path, List.of());
    }

    /**
     * Names the file, which is not read yet, and the filter types that the program brings for it.
     *
     * @throws IllegalArgumentException if a plugin declares what cannot be, or two have one name
     */
    public ConfigFile(Path path, List<? extends FilterPlugin> plugins) {
        this(path, false, PluginSource.of(plugins));
    }

    private ConfigFile(Path path, boolean ofProcess, PluginSource plugins) {
        this.plugins = plugins;
        this.path = path;
        this.watch = new FileWatch(List.of(path));
        this.ofProcess = ofProcess;
    }

    /**
     * Names the file of a gateway in a process of its own. It has an admin listener unless the file says no, and the filters
     * of plugins.
     *
     * @param plugins the directory of plugins, null for the one beside the file, if there is one
     */
    public static ConfigFile ofProcess(Path path, @Nullable Path plugins) {
        return new ConfigFile(path, true, PluginSource.directory(plugins, path));
    }

    /** Reads the file, and first the plugins. */
    public LoadResult load() {
        watch.reading();
        unreadable = Files.exists(path) && !Files.isReadable(path);
        LoadResult result = plugins.load(path);
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
     * Looks at the file, and returns whether it has changed since it was loaded and not since the last look. After a load that
     * failed because of a plugin, also looks at the jars; after one that was not permitted, whether it is now.
     */
    boolean hasSettled() {
        boolean plugin = plugins.hasSettledSinceFailure();
        boolean permitted = unreadable && Files.isReadable(path); // nothing else of the file has changed then
        return watch.hasSettled() || plugin || permitted;
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
